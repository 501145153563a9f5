// An app that uses what the Go SDK offers. Argument `crash`: one that panics.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/getsentry/sentry-go"
)

func readCard() error { return errors.New("card number is missing") }

func main() {
	err := sentry.Init(sentry.ClientOptions{
		Release:          "warehouse@0.9.0",
		Environment:      "staging",
		EnableTracing:    true,
		TracesSampleRate: 1,
		EnableLogs:       true,
		AttachStacktrace: true,
	})
	if err != nil {
		panic(err)
	}
	defer sentry.Flush(10 * time.Second)
	if len(os.Args) > 1 && os.Args[1] == "crash" {
		defer func() {
			sentry.CurrentHub().Recover(recover())
			sentry.Flush(10 * time.Second)
			os.Exit(2)
		}()
		panic("the pool is exhausted")
	}
	sentry.ConfigureScope(func(scope *sentry.Scope) {
		scope.SetUser(sentry.User{ID: "42", Email: "ann@example.com"})
		scope.SetTag("checkout", "express")
		scope.AddAttachment(&sentry.Attachment{Filename: "state.txt", Payload: []byte("cart=3")})
	})
	sentry.AddBreadcrumb(&sentry.Breadcrumb{Category: "ui.click", Message: "Pay now"})
	transaction := sentry.StartTransaction(context.Background(), "charge", sentry.WithOpName("task"))
	transaction.StartChild("db").Finish()
	transaction.Finish()
	sentry.CaptureException(readCard())
	sentry.CaptureMessage("stock is low")
	config := &sentry.MonitorConfig{Schedule: sentry.CrontabSchedule("0 3 * * *"), Timezone: "UTC"}
	id := sentry.CaptureCheckIn(&sentry.CheckIn{MonitorSlug: "nightly", Status: sentry.CheckInStatusInProgress}, config)
	if id != nil {
		sentry.CaptureCheckIn(&sentry.CheckIn{ID: *id, MonitorSlug: "nightly", Status: sentry.CheckInStatusOK, Duration: 2 * time.Second}, config)
	}
	sentry.NewLogger(context.Background()).Info().Emit("cart paid")
}
