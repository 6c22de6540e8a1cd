"""A Django REST framework project on a free port of this machine: one model behind each of the three paginations.

usage: drf_service.py DATABASE
"""

import sys

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, SECRET_KEY="not so secret", USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1], "OPTIONS": {"timeout": 600}}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", INSTALLED_APPS=["django.contrib.contenttypes", "rest_framework"],
    REST_FRAMEWORK={"DEFAULT_AUTHENTICATION_CLASSES": [], "DEFAULT_PERMISSION_CLASSES": [], "UNAUTHENTICATED_USER": None,
                    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]})
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from rest_framework import pagination, routers, serializers, viewsets  # noqa: E402
from waitress import create_server  # noqa: E402


class Book(models.Model):
    title = models.CharField(max_length=80)
    pages = models.IntegerField(default=0)
    # Filled by clients, so that they find a book whose creation they have heard nothing of.
    key = models.CharField(max_length=40, blank=True, db_index=True)
    modified = models.DateTimeField(auto_now=True)

    class Meta:
        app_label = "library"


class BookSerializer(serializers.ModelSerializer):
    class Meta:
        model = Book
        fields = ["id", "title", "pages", "key", "modified"]


class Numbered(pagination.PageNumberPagination):
    page_size = 40
    page_size_query_param = "page_size"
    max_page_size = 40


class Offset(pagination.LimitOffsetPagination):
    default_limit = 40
    max_limit = 40


class Cursor(pagination.CursorPagination):
    page_size = 40
    ordering = "id"


class BookViews(viewsets.ModelViewSet):
    serializer_class = BookSerializer

    def get_queryset(self):
        books, asked = Book.objects.order_by("id"), self.request.query_params
        if since := asked.get("since"):
            books = books.filter(modified__gte=since)
        if key := asked.get("key"):
            books = books.filter(key=key)
        return books


router = routers.DefaultRouter()
for name, style in [("numbered", Numbered), ("books", Numbered), ("offset", Offset), ("cursor", Cursor)]:
    router.register(name, type(f"{name.title()}Views", (BookViews,), {"pagination_class": style}), basename=name)
urlpatterns = router.urls

if "library_book" not in connection.introspection.table_names():
    with connection.schema_editor() as editor:
        editor.create_model(Book)
# One thread: SQLite has one writer, and the order of requests is the tests' own.
server = create_server(get_wsgi_application(), host="127.0.0.1", port=0, threads=1)
print(f"http://127.0.0.1:{server.effective_port}", flush=True)
server.run()
