// An app that uses what the Go SDK offers. Argument `crash`: one that panics.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/getsentry/sentry-go"
	"github.com/getsentry/sentry-go/attribute"
)

var errField = errors.New("field 3 is empty")

func parseField() error { return errField }

func readCard() error { return fmt.Errorf("card number is missing: %w", parseField()) }

func checkout(hub *sentry.Hub) {
	if err := readCard(); err != nil {
		hub.PushScope()
		defer hub.PopScope()
		hub.Scope().AddAttachment(&sentry.Attachment{Filename: "state.txt", Payload: []byte("cart=3")})
		hub.CaptureException(err)
	}
}

func drawConnection() { panic("the pool is exhausted") }

func main() {
	err := sentry.Init(sentry.ClientOptions{
		Release:          "warehouse@0.9.0",
		Environment:      "staging",
		EnableTracing:    true,
		TracesSampleRate: 1,
		AttachStacktrace: true,
		BeforeSend: func(event *sentry.Event, hint *sentry.EventHint) *sentry.Event {
			if event.Message == "not needed" {
				return nil
			}
			return event
		},
	})
	if err != nil {
		panic(err)
	}
	defer sentry.Flush(10 * time.Second)
	hub := sentry.CurrentHub()
	hub.ConfigureScope(func(scope *sentry.Scope) {
		scope.SetUser(sentry.User{ID: "42", Email: "ann@example.com"})
		scope.SetTag("checkout", "express")
	})
	sentry.AddBreadcrumb(&sentry.Breadcrumb{Category: "ui.click", Message: "Pay now", Data: map[string]any{"button": "pay"}})
	if len(os.Args) > 1 && os.Args[1] == "crash" {
		defer func() {
			sentry.CurrentHub().Recover(recover())
			sentry.Flush(10 * time.Second)
			os.Exit(2)
		}()
		drawConnection()
	}

	startedAt := time.Now().Add(-1200 * time.Millisecond)
	transaction := sentry.StartTransaction(sentry.SetHubOnContext(context.Background(), hub), "POST /checkout", sentry.WithOpName("http.server"))
	transaction.StartTime = startedAt
	child := transaction.StartChild("db", sentry.WithDescription("charge"))
	child.StartTime = startedAt.Add(200 * time.Millisecond)
	child.EndTime = startedAt.Add(1000 * time.Millisecond)
	child.Finish()
	hub.Scope().SetSpan(transaction)
	checkout(hub)
	logger := sentry.NewLogger(transaction.Context())
	logger.Info().Float64("total", 12.5).String("currency", "EUR").Emit("cart paid")
	transaction.EndTime = startedAt.Add(1200 * time.Millisecond)
	transaction.Finish()

	hub.PushScope()
	hub.Scope().SetLevel(sentry.LevelWarning)
	hub.CaptureMessage("stock is low")
	hub.PopScope()
	hub.CaptureMessage("not needed")
	config := &sentry.MonitorConfig{Schedule: sentry.CrontabSchedule("0 3 * * *"), Timezone: "UTC"}
	id := sentry.CaptureCheckIn(&sentry.CheckIn{MonitorSlug: "nightly", Status: sentry.CheckInStatusInProgress}, config)
	if id != nil {
		sentry.CaptureCheckIn(&sentry.CheckIn{ID: *id, MonitorSlug: "nightly", Status: sentry.CheckInStatusOK, Duration: 2 * time.Second}, config)
	}
	sentry.NewMeter(context.Background()).Count("orders.created", 1, sentry.WithAttributes(attribute.String("shop", "main")))
}
