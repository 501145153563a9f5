//! An app that uses what the Rust SDK offers. Argument `crash`: one that panics.
use sentry::protocol::{Attachment, User};
use std::time::Duration;

fn main() {
    let guard = sentry::init(sentry::ClientOptions {
        dsn: std::env::var("SENTRY_DSN").ok().and_then(|dsn| dsn.parse().ok()),
        release: Some("engine@2.0.0".into()),
        environment: Some("staging".into()),
        traces_sample_rate: 1.0,
        auto_session_tracking: true,
        session_mode: sentry::SessionMode::Application,
        enable_logs: true,
        shutdown_timeout: Duration::from_secs(10),
        ..Default::default()
    });
    sentry::start_session();
    if std::env::args().nth(1).as_deref() == Some("crash") {
        panic!("the pool is exhausted");
    }
    sentry::configure_scope(|scope| {
        scope.set_user(Some(User { id: Some("42".into()), email: Some("ann@example.com".into()), ..Default::default() }));
        scope.set_tag("checkout", "express");
        scope.add_attachment(Attachment { buffer: b"cart=3".to_vec(), filename: "state.txt".into(), ..Default::default() });
    });
    sentry::add_breadcrumb(sentry::Breadcrumb { category: Some("ui.click".into()), message: Some("Pay now".into()), ..Default::default() });
    let transaction = sentry::start_transaction(sentry::TransactionContext::new("charge", "task"));
    transaction.start_child("db", "select 1").finish();
    transaction.finish();
    let missing: Result<u32, _> = "card".parse::<u32>();
    if let Err(error) = missing {
        sentry::capture_error(&error);
    }
    sentry::capture_message("stock is low", sentry::Level::Warning);
    sentry::end_session();
    drop(guard);
}
