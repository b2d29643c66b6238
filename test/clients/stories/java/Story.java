import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import gantry.ApiClient;
import gantry.ApiException;
import gantry.ApiResponse;
import gantry.api.AccessTokensApi;
import gantry.api.ApisApi;
import gantry.api.DeliveriesApi;
import gantry.api.DocumentsApi;
import gantry.api.EventsApi;
import gantry.api.ImagesApi;
import gantry.api.LoginApi;
import gantry.api.VersionsApi;
import gantry.api.WebhooksApi;
import gantry.model.AccessTokenInput;
import gantry.model.ActiveStatus;
import gantry.model.Api;
import gantry.model.ApiInput;
import gantry.model.ApiPage;
import gantry.model.AuthenticatedUser;
import gantry.model.Credentials;
import gantry.model.Delivery;
import gantry.model.Document;
import gantry.model.DocumentKind;
import gantry.model.EventPage;
import gantry.model.Image;
import gantry.model.ImageType;
import gantry.model.NewAccessToken;
import gantry.model.NewWebhook;
import gantry.model.Problem;
import gantry.model.Role;
import gantry.model.Scope;
import gantry.model.StreamedEvent;
import gantry.model.Version;
import gantry.model.VersionInput;
import gantry.model.VersionStatus;
import gantry.model.WebhookInput;
import java.io.File;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** The story of a client: each step is printed after its responses have been checked. */
final class Story {
  /** The smallest image, of one pixel. */
  private static final byte[] IMAGE =
      Base64.getDecoder()
          .decode(
              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==");

  private static final String DOCUMENT =
      "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Payments\",\"version\":\"1\"},\"paths\":{}}";

  private final ApiClient client;
  private final ApisApi apis;

  private Story(ApiClient client) {
    this.client = client;
    this.apis = new ApisApi(client);
  }

  public static void main(String[] args) throws ApiException, IOException {
    Story story = new Story(logIn());
    Api api = story.apis();
    story.images(api.getId());
    story.documents(api.getId());
    story.tokens();
    story.webhooks();
    story.events(api.getId());
    story.problems();
  }

  private static ApiClient logIn() throws ApiException {
    Credentials credentials =
        new Credentials().username(System.getenv("GANTRY_USERNAME")).password(System.getenv("GANTRY_PASSWORD"));
    ApiResponse<AuthenticatedUser> login =
        new LoginApi(connect(null))
            .loginWithHttpInfo(LoginApi.APILoginRequest.newBuilder().credentials(credentials).build());
    check(login.getData().getRole() == Role.GLOBAL_ADMIN, "the role of the user");
    ApiClient client = connect(header(login, "authorization"));
    did("login header");
    return client;
  }

  private Api apis() throws ApiException, IOException {
    ApisApi.APICreateApiRequest create =
        ApisApi.APICreateApiRequest.newBuilder().apiInput(payments()).idempotencyKey("payments").build();
    ApiResponse<Api> first = apis.createApiWithHttpInfo(create);
    ApiResponse<Api> second = apis.createApiWithHttpInfo(create);
    Api api = first.getData();
    check(second.getData().getId().equals(api.getId()), "the same API");
    check(header(second, "idempotency-replayed").equals("true"), "the repeated response");
    did("create with key");

    ApiPage list =
        apis.listApis(
            ApisApi.APIListApisRequest.newBuilder().name("payments").tags(List.of("finance")).build());
    check(list.getTotalElements() == 1 && list.getContent().get(0).getId().equals(api.getId()), "the list");
    did("list");

    String etag = header(first, "etag");
    ApisApi.APIGetApiRequest unchanged =
        ApisApi.APIGetApiRequest.newBuilder().apiId(api.getId()).ifNoneMatch(etag).build();
    // The client has no result without a body, so the status is in an exception.
    check(refusal(() -> apis.getApi(unchanged)).getCode() == 304, "the status 304");
    did("304");

    ApiInput body = payments().tags(List.of());
    ApisApi.APIUpdateApiRequest update =
        ApisApi.APIUpdateApiRequest.newBuilder().apiId(api.getId()).apiInput(body).ifMatch(etag).build();
    check(apis.updateApi(update).getTags().isEmpty(), "the updated API");
    ApiException stale = refusal(() -> apis.updateApi(update));
    check(stale.getCode() == 412 && problem(stale).getCode().equals("precondition-failed"), "the status 412");
    did("412");
    return api;
  }

  private void images(UUID api) throws ApiException, IOException {
    ImagesApi images = new ImagesApi(client);
    File file = Files.write(Files.createTempFile("story", ".png"), IMAGE).toFile();
    file.deleteOnExit();
    Image uploaded =
        images.uploadImage(ImagesApi.APIUploadImageRequest.newBuilder().apiId(api)._file(file).build());
    check(uploaded.getContentType() == ImageType.IMAGE_PNG, "the properties of the image");
    did("upload");

    File got = images.downloadImage(ImagesApi.APIDownloadImageRequest.newBuilder().apiId(api).build());
    check(Arrays.equals(Files.readAllBytes(got.toPath()), IMAGE), "the image");
    did("download");
  }

  private void documents(UUID api) throws ApiException, IOException {
    VersionInput body = new VersionInput().name("1").status(VersionStatus.DEVELOPMENT);
    Version version =
        new VersionsApi(client)
            .createVersion(
                VersionsApi.APICreateVersionRequest.newBuilder().apiId(api).versionInput(body).build());
    check(version.getStatus() == VersionStatus.DEVELOPMENT, "the version");
    did("version");

    // The library native writes every body as JSON, a file as its path. The interceptor sends the bytes in its place.
    ApiClient uploading =
        connect(null)
            .setRequestInterceptor(
                client.getRequestInterceptor().andThen(request -> request.PUT(BodyPublishers.ofString(DOCUMENT))));
    String id = version.getId().toString();
    File file = Files.writeString(Files.createTempFile("story", ".json"), DOCUMENT).toFile();
    file.deleteOnExit();
    Document put =
        new DocumentsApi(uploading)
            .putDocument(
                DocumentsApi.APIPutDocumentRequest.newBuilder()
                    .apiId(api)
                    .versionId(id)
                    .name("openapi.json")
                    .body(file)
                    .build());
    check(put.getKind() == DocumentKind.OPENAPI, "the kind of the document");
    File got =
        new DocumentsApi(client)
            .downloadDocument(
                DocumentsApi.APIDownloadDocumentRequest.newBuilder()
                    .apiId(api)
                    .versionId(id)
                    .name("openapi.json")
                    .build());
    check(Files.readString(got.toPath()).equals(DOCUMENT), "the document");
    did("document");
  }

  private void tokens() throws ApiException, IOException {
    AccessTokenInput body = new AccessTokenInput().name("reader").scopes(List.of(Scope.ApiRead)).validityDays(1L);
    NewAccessToken token =
        new AccessTokensApi(client)
            .createAccessToken(
                AccessTokensApi.APICreateAccessTokenRequest.newBuilder().accessTokenInput(body).build());
    ApisApi reader = new ApisApi(connect("Bearer " + token.getToken()));
    check(reader.listApis(ApisApi.APIListApisRequest.newBuilder().build()).getContent() != null, "the list");
    ApiException refused = refusal(() -> reader.createApi(create(payments())));
    check(problem(refused).getCode().equals("scope-missing"), "the scope of the token");
    did("token");
  }

  private void webhooks() throws ApiException {
    // Nobody listens there, so deliveries fail.
    WebhookInput body =
        new WebhookInput()
            .displayName("Nowhere")
            .url("http://127.0.0.1:1/")
            .active(true)
            .eventTypes(List.of("API_CREATED"));
    NewWebhook webhook =
        new WebhooksApi(client)
            .createWebhook(WebhooksApi.APICreateWebhookRequest.newBuilder().webhookInput(body).build());
    check(webhook.getSecret() != null, "the secret");
    did("webhook");

    DeliveriesApi deliveries = new DeliveriesApi(client);
    Delivery tested =
        deliveries.testWebhook(
            DeliveriesApi.APITestWebhookRequest.newBuilder().webhookId(webhook.getId()).build());
    List<Delivery> listed =
        deliveries
            .listWebhookDeliveries(
                DeliveriesApi.APIListWebhookDeliveriesRequest.newBuilder()
                    .webhookId(webhook.getId())
                    .sort(List.of("createdAt,desc"))
                    .build())
            .getContent();
    check(
        listed.stream().anyMatch(one -> one.getId().equals(tested.getId()) && one.getEventType().equals("TEST")),
        "the delivery");
    did("deliveries");
  }

  private void events(UUID api) throws ApiException {
    EventsApi events = new EventsApi(client);
    String position = null;
    for (boolean found = false; !found; ) {
      EventPage page =
          events.streamEvents(
              EventsApi.APIStreamEventsRequest.newBuilder()
                  .type(List.of("API_CREATED"))
                  .api(api)
                  .after(position)
                  .build());
      found =
          page.getContent().stream()
              .anyMatch(
                  event ->
                      event.getActualInstance() instanceof StreamedEvent streamed
                          && streamed.getSubject().equals(api.toString()));
      position = page.getPosition();
    }
    did("page of events");
  }

  private void problems() throws IOException {
    Problem problem = problem(refusal(() -> apis.createApi(create(payments().name("")))));
    check(problem.getCode().equals("invalid-request"), "the problem");
    check("name".equals(problem.getErrors().get(0).getField()), "the field");
    did("typed problem");
  }

  private static ApiInput payments() {
    return new ApiInput()
        .name("payments")
        .displayName("Payments")
        .status(ActiveStatus.ACTIVE)
        .tags(List.of("finance"));
  }

  private static ApisApi.APICreateApiRequest create(ApiInput body) {
    return ApisApi.APICreateApiRequest.newBuilder().apiInput(body).build();
  }

  /**
   * A client whose requests have an Authorization header, unless it is null. By default, the generated classes ignore
   * unknown members, and each value of a union becomes the first of its types.
   */
  private static ApiClient connect(String authorization) {
    ObjectMapper mapper =
        ApiClient.createDefaultObjectMapper().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    ApiClient client =
        new ApiClient(ApiClient.createDefaultHttpClientBuilder(), mapper, System.getenv("GANTRY_URL"));
    if (authorization != null)
      client.setRequestInterceptor(request -> request.header("Authorization", authorization));
    return client;
  }

  private static String header(ApiResponse<?> response, String name) {
    return response.getHeaders().get(name).get(0);
  }

  /** The generated exception has the text of the body, which is a generated type. */
  private Problem problem(ApiException refusal) throws JsonProcessingException {
    return client.getObjectMapper().readValue(refusal.getResponseBody(), Problem.class);
  }

  private interface Call {
    void run() throws ApiException;
  }

  private static ApiException refusal(Call call) {
    try {
      call.run();
    } catch (ApiException exception) {
      return exception;
    }
    throw new IllegalStateException("the call was not refused");
  }

  private static void check(boolean condition, String what) {
    if (!condition) throw new IllegalStateException("not as expected: " + what);
  }

  private static void did(String step) {
    System.out.println(step);
  }
}
