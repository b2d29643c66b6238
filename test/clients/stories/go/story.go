// The story of a client: each step is printed after its responses have been checked.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"mime/multipart"
	"net/http"
	"os"

	"gantry/clients/gantry"
)

// The smallest image, of one pixel.
const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const document = `{"openapi":"3.1.0","info":{"title":"Payments","version":"1"},"paths":{}}`

var ctx = context.Background()

func main() {
	client := logIn()
	api := apis(client)
	images(client, api)
	documents(client, api)
	tokens(client)
	webhooks(client)
	events(client, api)
	problems(client)
}

func logIn() *gantry.ClientWithResponses {
	credentials := gantry.Credentials{Username: os.Getenv("GANTRY_USERNAME"), Password: os.Getenv("GANTRY_PASSWORD")}
	login := must(connect("").LoginWithResponse(ctx, credentials))
	check(login.JSON200 != nil && login.JSON200.Role == gantry.RoleGLOBALADMIN, "the role of the user")
	check(login.Headers200.Authorization != nil, "the login header")
	did("login header")
	return connect(*login.Headers200.Authorization)
}

func apis(client *gantry.ClientWithResponses) *gantry.Api {
	key := "payments"
	create := func() *gantry.CreateApiResponse {
		return must(client.CreateApiWithResponse(ctx, &gantry.CreateApiParams{IdempotencyKey: &key}, payments()))
	}
	first, second := create(), create()
	check(first.JSON201 != nil && second.JSON201 != nil && first.JSON201.Id == second.JSON201.Id, "the same API")
	check(*second.Headers201.IdempotencyReplayed == "true", "the repeated response")
	did("create with key")

	api, etag := first.JSON201, first.Headers201.ETag
	list := must(client.ListApisWithResponse(ctx, &gantry.ListApisParams{Name: &api.Name, Tags: &[]string{"finance"}}))
	check(list.JSON200 != nil && list.JSON200.TotalElements == 1 && list.JSON200.Content[0].Id == api.Id, "the list")
	did("list")

	unchanged := must(client.GetApiWithResponse(ctx, api.Id, &gantry.GetApiParams{IfNoneMatch: etag}))
	check(unchanged.StatusCode() == http.StatusNotModified && *unchanged.Headers304.ETag == *etag, "the status 304")
	did("304")

	body := payments()
	body.Tags = []string{}
	update := func() *gantry.UpdateApiResponse {
		return must(client.UpdateApiWithResponse(ctx, api.Id, &gantry.UpdateApiParams{IfMatch: etag}, body))
	}
	updated := update()
	check(updated.JSON200 != nil && len(updated.JSON200.Tags) == 0, "the updated API")
	stale := update().ApplicationproblemJSON412
	check(stale != nil && stale.Code == "precondition-failed", "the status 412")
	did("412")
	return api
}

func images(client *gantry.ClientWithResponses, api *gantry.Api) {
	bytesOfImage := must(base64.StdEncoding.DecodeString(image))
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	must(must(writer.CreateFormFile("file", "image.png")).Write(bytesOfImage))
	must(0, writer.Close())
	uploaded := must(client.UploadImageWithBodyWithResponse(ctx, api.Id, writer.FormDataContentType(), &form))
	check(uploaded.JSON200 != nil && uploaded.JSON200.ContentType == gantry.ImageTypeImagepng, "the properties of the image")
	did("upload")

	got := must(client.DownloadImageWithResponse(ctx, api.Id, nil))
	check(bytes.Equal(got.Body, bytesOfImage), "the image")
	did("download")
}

func documents(client *gantry.ClientWithResponses, api *gantry.Api) {
	status := gantry.VersionStatusDEVELOPMENT
	body := gantry.VersionInput{Name: "1", Status: &status}
	version := must(client.CreateVersionWithResponse(ctx, api.Id, nil, body)).JSON201
	check(version != nil && version.Status == status, "the version")
	did("version")

	id, name, content := version.Id.String(), "openapi.json", bytes.NewBufferString(document)
	put := must(client.PutDocumentWithBodyWithResponse(ctx, api.Id, id, name, nil, "application/octet-stream", content))
	check(put.JSON201 != nil && put.JSON201.Kind == gantry.DocumentKindOpenapi, "the kind of the document")
	got := must(client.DownloadDocumentWithResponse(ctx, api.Id, id, name, nil))
	check(string(got.Body) == document, "the document")
	did("document")
}

func tokens(client *gantry.ClientWithResponses) {
	days := int64(1)
	body := gantry.AccessTokenInput{Name: "reader", Scopes: []gantry.Scope{gantry.ScopeApiRead}, ValidityDays: &days}
	token := must(client.CreateAccessTokenWithResponse(ctx, nil, body)).JSON201
	check(token != nil && token.Token != nil, "the token")
	reader := connect("Bearer " + *token.Token)
	check(must(reader.ListApisWithResponse(ctx, nil)).JSON200 != nil, "the list")
	refused := must(reader.CreateApiWithResponse(ctx, nil, payments())).ApplicationproblemJSONDefault
	check(refused != nil && refused.Code == "scope-missing", "the scope of the token")
	did("token")
}

func webhooks(client *gantry.ClientWithResponses) {
	// Nobody listens there, so deliveries fail.
	body := gantry.WebhookInput{
		DisplayName: "Nowhere", Url: "http://127.0.0.1:1/", Active: true, EventTypes: []string{"API_CREATED"},
	}
	webhook := must(client.CreateWebhookWithResponse(ctx, nil, body)).JSON201
	check(webhook != nil && webhook.Secret != nil, "the secret")
	did("webhook")

	tested := must(client.TestWebhookWithResponse(ctx, webhook.Id)).JSON202
	check(tested != nil, "the test")
	sort := gantry.ListWebhookDeliveriesParams{Sort: &[]string{"createdAt,desc"}}
	deliveries := must(client.ListWebhookDeliveriesWithResponse(ctx, webhook.Id, &sort)).JSON200
	check(deliveries != nil, "the deliveries")
	for _, delivery := range deliveries.Content {
		if delivery.Id == tested.Id && delivery.EventType == "TEST" {
			did("deliveries")
		}
	}
}

func events(client *gantry.ClientWithResponses, api *gantry.Api) {
	params := gantry.StreamEventsParams{Type: &[]string{"API_CREATED"}, Api: &api.Id}
	for {
		page := must(client.StreamEventsWithResponse(ctx, &params)).JSON200
		check(page != nil, "a page of events")
		for _, one := range page.Content {
			if event := must(one.AsStreamedEvent()); event.Subject == api.Id.String() {
				did("page of events")
				return
			}
		}
		params.After = &page.Position
	}
}

func problems(client *gantry.ClientWithResponses) {
	body := payments()
	body.Name = ""
	problem := must(client.CreateApiWithResponse(ctx, nil, body)).ApplicationproblemJSON400
	check(problem != nil && problem.Code == "invalid-request" && problem.Errors != nil, "the problem")
	check(*(*problem.Errors)[0].Field == "name", "the field")
	did("typed problem")
}

func payments() gantry.ApiInput {
	return gantry.ApiInput{
		Name: "payments", DisplayName: "Payments", Status: gantry.ActiveStatusACTIVE, Tags: []string{"finance"},
	}
}

// connect makes a client whose requests have an Authorization header, unless it is empty.
func connect(authorization string) *gantry.ClientWithResponses {
	return must(gantry.NewClientWithResponses(os.Getenv("GANTRY_URL"), gantry.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			if authorization != "" {
				request.Header.Set("Authorization", authorization)
			}
			return nil
		},
	)))
}

func must[Value any](value Value, err error) Value {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(condition bool, what string) {
	if !condition {
		log.Fatal("not as expected: ", what)
	}
}

func did(step string) {
	fmt.Println(step)
}
