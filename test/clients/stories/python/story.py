from base64 import b64decode
from io import BytesIO
from os import environ

from gantry.api.access_tokens import create_access_token
from gantry.api.apis import create_api, get_api, list_apis, update_api
from gantry.api.deliveries import list_webhook_deliveries, test_webhook
from gantry.api.documents import download_document, put_document
from gantry.api.events import stream_events
from gantry.api.images import download_image, upload_image
from gantry.api.login import login
from gantry.api.versions import create_version
from gantry.api.webhooks import create_webhook
from gantry.client import AuthenticatedClient, Client
from gantry.models.access_token_input import AccessTokenInput
from gantry.models.active_status import ActiveStatus
from gantry.models.api import Api
from gantry.models.api_input import ApiInput
from gantry.models.api_page import ApiPage
from gantry.models.authenticated_user import AuthenticatedUser
from gantry.models.credentials import Credentials
from gantry.models.delivery import Delivery
from gantry.models.delivery_page import DeliveryPage
from gantry.models.document import Document
from gantry.models.document_kind import DocumentKind
from gantry.models.event_page import EventPage
from gantry.models.image import Image
from gantry.models.image_type import ImageType
from gantry.models.image_upload import ImageUpload
from gantry.models.new_access_token import NewAccessToken
from gantry.models.new_webhook import NewWebhook
from gantry.models.problem import Problem
from gantry.models.role import Role
from gantry.models.scope import Scope
from gantry.models.streamed_event import StreamedEvent
from gantry.models.version import Version
from gantry.models.version_input import VersionInput
from gantry.models.version_status import VersionStatus
from gantry.models.webhook_input import WebhookInput
from gantry.types import UNSET, File, Unset

URL = environ["GANTRY_URL"]

# The smallest image, of one pixel.
IMAGE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DOCUMENT = b'{"openapi":"3.1.0","info":{"title":"Payments","version":"1"},"paths":{}}'


def did(step: str) -> None:
    print(step)


logged_in = login.sync_detailed(
    client=Client(base_url=URL),
    body=Credentials(username=environ["GANTRY_USERNAME"], password=environ["GANTRY_PASSWORD"]),
)
assert isinstance(logged_in.parsed, AuthenticatedUser) and logged_in.parsed.role == Role.GLOBAL_ADMIN
client = AuthenticatedClient(base_url=URL, token=logged_in.headers["Authorization"].removeprefix("Bearer "))
did("login header")

body = ApiInput(name="payments", display_name="Payments", status=ActiveStatus.ACTIVE, tags=["finance"])
first = create_api.sync_detailed(client=client, body=body, idempotency_key="payments")
second = create_api.sync_detailed(client=client, body=body, idempotency_key="payments")
api = first.parsed
assert isinstance(api, Api) and isinstance(second.parsed, Api) and second.parsed.id == api.id
assert second.headers["Idempotency-Replayed"] == "true"
did("create with key")

page = list_apis.sync(client=client, name="payments", tags=["finance"])
assert isinstance(page, ApiPage) and [one.id for one in page.content] == [api.id] and page.total_elements == 1
did("list")

etag = first.headers["ETag"]
assert get_api.sync_detailed(api.id, client=client, if_none_match=etag).status_code == 304
did("304")

body.tags = []
updated = update_api.sync(api.id, client=client, body=body, if_match=etag)
assert isinstance(updated, Api) and updated.tags == []
stale = update_api.sync_detailed(api.id, client=client, body=body, if_match=etag)
assert stale.status_code == 412 and isinstance(stale.parsed, Problem) and stale.parsed.code == "precondition-failed"
did("412")

upload = ImageUpload(file=File(payload=BytesIO(IMAGE), file_name="image.png", mime_type="image/png"))
uploaded = upload_image.sync(api.id, client=client, body=upload)
assert isinstance(uploaded, Image) and uploaded.content_type == ImageType.IMAGEPNG and uploaded.width == 1
did("upload")

image = download_image.sync(api.id, client=client)
assert isinstance(image, File) and image.payload.read() == IMAGE
did("download")

version = create_version.sync(
    api.id, client=client, body=VersionInput(name="1", status=VersionStatus.DEVELOPMENT)
)
assert isinstance(version, Version) and version.status == VersionStatus.DEVELOPMENT
did("version")

put = put_document.sync(
    api.id, str(version.id), "openapi.json", client=client, body=File(payload=BytesIO(DOCUMENT))
)
assert isinstance(put, Document) and put.kind == DocumentKind.OPENAPI and put.title == "Payments"
got = download_document.sync(api.id, str(version.id), "openapi.json", client=client)
assert isinstance(got, File) and got.payload.read() == DOCUMENT
did("document")

token = create_access_token.sync(
    client=client, body=AccessTokenInput(name="reader", scopes=[Scope.API_READ], validity_days=1)
)
assert isinstance(token, NewAccessToken) and token.token is not None
reader = AuthenticatedClient(base_url=URL, token=token.token)
assert isinstance(list_apis.sync(client=reader), ApiPage)
refused = create_api.sync(client=reader, body=body)
assert isinstance(refused, Problem) and refused.code == "scope-missing"
did("token")

# Nobody listens there, so deliveries fail.
webhook = create_webhook.sync(
    client=client,
    body=WebhookInput(
        display_name="Nowhere", url="http://127.0.0.1:1/", active=True, event_types=["API_CREATED"]
    ),
)
assert isinstance(webhook, NewWebhook) and webhook.secret is not None
did("webhook")

tested = test_webhook.sync(webhook.id, client=client)
assert isinstance(tested, Delivery)
deliveries = list_webhook_deliveries.sync(webhook.id, client=client, sort=["createdAt,desc"])
assert isinstance(deliveries, DeliveryPage)
assert [(one.id, one.event_type) for one in deliveries.content if one.id == tested.id] == [(tested.id, "TEST")]
did("deliveries")

position: str | Unset = UNSET
found = False
while not found:
    events = stream_events.sync(client=client, type_=["API_CREATED"], api=api.id, after=position)
    assert isinstance(events, EventPage)
    found = any(isinstance(event, StreamedEvent) and event.subject == str(api.id) for event in events.content)
    position = events.position
did("page of events")

body.name = ""
problem = create_api.sync(client=client, body=body)
assert isinstance(problem, Problem) and problem.code == "invalid-request"
assert isinstance(problem.errors, list) and problem.errors[0].field == "name"
did("typed problem")
