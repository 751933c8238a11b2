// SPDX-License-Identifier: Apache-2.0
package shop;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A shop on Spring Boot. Its handlers compute, so that they are what a profile shows. */
@SpringBootApplication
@RestController
public class Shop {
	public record Item(String name, int price) {
	}

	private final List<Item> items = new ArrayList<>();

	public Shop() {
		for (int i = 0; i < 40000; i++)
			items.add(new Item("item " + i * 7919 % 997, i * 31 % 101));
	}

	@GetMapping("/items")
	public List<Item> listItems() {
		List<Item> sorted = new ArrayList<>(items);
		sorted.sort(Comparator.comparingInt(Item::price).thenComparing(Item::name));
		return sorted.subList(0, 100);
	}

	@GetMapping("/search/{word}")
	public Map<String, List<Item>> searchItems(@PathVariable("word") String word) {
		return Map.of("found", items.stream().filter(item -> isMatch(item, word)).toList());
	}

	private static boolean isMatch(Item item, String word) {
		return item.name().toUpperCase(Locale.ROOT).contains(word) || Integer.toString(item.price()).startsWith(word);
	}

	/** Its rounds are so many that the compiled loop has a safepoint. Without one, the JVM does not describe the place. */
	private static int priceBasket(int total, Item item) {
		int sum = total;
		for (int i = 0; i < 20000; i++)
			sum = (sum * 31 + item.price()) % 10007;
		return sum;
	}

	@GetMapping("/buy/{number}")
	public Map<String, Integer> checkOut(@PathVariable("number") int number) {
		int total = 0;
		for (Item item : items.subList(0, number))
			total = priceBasket(total, item);
		return Map.of("total", total);
	}

	public static void main(String[] arguments) {
		SpringApplication.run(Shop.class, arguments);
	}
}
