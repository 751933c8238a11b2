// SPDX-License-Identifier: Apache-2.0
/* A shop on Express: shop.js PORT. Its handlers compute, so that they are what a profile shows. */
"use strict";
const express = require("express");

class Catalogue {
	constructor(nr) {
		this.items = [];
		for (let i = 0; i < nr; i++)
			this.items.push({name: `item ${i * 7919 % 997}`, price: i * 31 % 101});
	}

	search(word) {
		return this.items.filter(item => this.isMatch(item, word));
	}

	isMatch(item, word) {
		return item.name.includes(word) || String(item.price).startsWith(word);
	}

	byPrice() {
		return [...this.items].sort(function comparePrices(a, b) {
			return a.price - b.price || a.name.localeCompare(b.name);
		});
	}
}

const catalogue = new Catalogue(2000);

function listItems(request, response) {
	response.json(catalogue.byPrice().slice(0, 100));
}

async function searchItems(request, response) {
	await null;
	response.json({found: catalogue.search(request.params.word)});
}

function priceBasket(total, item) {
	for (let i = 0; i < 500; i++)
		total = (total * 31 + item.price) % 10007;
	return total;
}

function checkOut(request, response) {
	response.json({total: catalogue.items.slice(0, request.params.number).reduce(priceBasket, 0)});
}

const shop = express();
shop.get("/items", listItems);
shop.get("/search/:word", searchItems);
shop.get("/buy/:number", checkOut);
shop.listen(Number(process.argv[2]), "127.0.0.1");
