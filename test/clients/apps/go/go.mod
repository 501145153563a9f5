module example.com/shop

go 1.23

require github.com/getsentry/sentry-go v0.50.0
