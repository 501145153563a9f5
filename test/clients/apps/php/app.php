<?php

/** An app that uses what the PHP SDK offers. Argument `crash`: one that dies. */

declare(strict_types=1);

require __DIR__ . '/vendor/autoload.php';

use Sentry\Breadcrumb;
use Sentry\CheckInStatus;
use Sentry\Event;
use Sentry\MonitorConfig;
use Sentry\MonitorSchedule;
use Sentry\SentrySdk;
use Sentry\Severity;
use Sentry\State\Scope;
use Sentry\Tracing\SpanContext;
use Sentry\Tracing\TransactionContext;

Sentry\init([
    'dsn' => getenv('SENTRY_DSN'),
    'release' => 'kiosk@7.0.2',
    'environment' => 'staging',
    'traces_sample_rate' => 1.0,
    'enable_logs' => true,
    'enable_metrics' => true,
    'attach_stacktrace' => true,
    'in_app_exclude' => [__DIR__ . '/vendor'],
    'before_send' => static fn (Event $event): ?Event => $event->getMessage() === 'not needed' ? null : $event,
]);

function parseField(): void
{
    throw new OutOfBoundsException('field 3 is empty');
}

function readCard(): void
{
    try {
        parseField();
    } catch (OutOfBoundsException $error) {
        throw new InvalidArgumentException('card number is missing', 0, $error);
    }
}

function checkout(): void
{
    try {
        readCard();
    } catch (InvalidArgumentException $error) {
        Sentry\captureException($error);
    }
}

function drawConnection(): void
{
    throw new RuntimeException('the pool is exhausted');
}

Sentry\configureScope(static function (Scope $scope): void {
    $scope->setUser(['id' => '42', 'email' => 'ann@example.com']);
    $scope->setTag('checkout', 'express');
});
Sentry\addBreadcrumb(new Breadcrumb(Breadcrumb::LEVEL_INFO, Breadcrumb::TYPE_DEFAULT, 'ui.click', 'Pay now', ['button' => 'pay']));

if (($argv[1] ?? '') === 'crash') {
    drawConnection();
}

$startedAt = microtime(true) - 1.2;
$context = TransactionContext::make()->setName('POST /checkout')->setOp('http.server')->setStartTimestamp($startedAt);
$transaction = Sentry\startTransaction($context);
SentrySdk::getCurrentHub()->setSpan($transaction);
$transaction
    ->startChild(SpanContext::make()->setOp('db')->setDescription('charge')->setStartTimestamp($startedAt + 0.2))
    ->finish($startedAt + 1.0);
checkout();
Sentry\logger()->info('cart paid', [], ['total' => 12.5, 'currency' => 'EUR']);
$transaction->finish($startedAt + 1.2);
SentrySdk::getCurrentHub()->setSpan(null);

Sentry\captureMessage('stock is low', Severity::warning());
Sentry\captureMessage('not needed');
$monitor = new MonitorConfig(MonitorSchedule::crontab('0 3 * * *'), null, null, 'UTC');
$checkIn = Sentry\captureCheckIn('nightly', CheckInStatus::inProgress(), null, $monitor);
Sentry\captureCheckIn('nightly', CheckInStatus::ok(), 2, $monitor, $checkIn);
Sentry\traceMetrics()->count('orders.created', 1);
Sentry\logger()->flush();
Sentry\traceMetrics()->flush();
