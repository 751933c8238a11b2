# SPDX-License-Identifier: Apache-2.0
"""A shop on Django, in one file: shop.py PORT. Its handlers compute, so that they are what a profile shows."""

import json
import os
import sys

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.http import HttpResponse, JsonResponse
from django.template import engines
from django.urls import path

TEMPLATE = """<ul>{% for item in items %}<li>{{ item.name|title }}: {{ item.price|floatformat:2 }}
{% if item.price > 50 %}expensive{% endif %}</li>{% endfor %}</ul>"""

settings.configure(SECRET_KEY="x", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, DEBUG=False,
                   MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
                   TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])


class Catalogue:
    def __init__(self, nr):
        self.items = [{"name": f"item {i * 7919 % 997}", "price": i * 31 % 101} for i in range(nr)]

    def search(self, word):
        return [item for item in self.items if self.is_match(item, word)]

    def is_match(self, item, word):
        return word in item["name"] or str(item["price"]).startswith(word)

    def by_price(self):
        return sorted(self.items, key=lambda item: (item["price"], item["name"]))


CATALOGUE = Catalogue(2000)


def list_items(_request):
    return HttpResponse(engines.all()[0].from_string(TEMPLATE).render({"items": CATALOGUE.by_price()[:100]}))


def search_items(_request, word):
    return JsonResponse({"found": CATALOGUE.search(word)})


def price_basket(total, item):
    for _ in range(50):
        total = (total * 31 + item["price"]) % 10007
    return total


def check_out(_request, number):
    total = 0
    for item in CATALOGUE.items[:number]:
        total = price_basket(total, item)
    return HttpResponse(json.dumps({"total": total}))


urlpatterns = [path("items", list_items), path("search/<str:word>", search_items), path("buy/<int:number>", check_out)]


class QuietHandler(WSGIRequestHandler):
    disable_nagle_algorithm = True  # or each answer takes 40 ms

    def log_message(self, *_args):
        pass


def main():
    os.environ["DJANGO_SETTINGS_MODULE"] = ""
    django.setup(set_prefix=False)
    server = ThreadedWSGIServer(("127.0.0.1", int(sys.argv[1])), QuietHandler)
    server.set_app(WSGIHandler())
    server.serve_forever()


if __name__ == "__main__":
    sys.modules["shop"] = sys.modules["__main__"]
    main()
