import { describe, expect, test } from 'vitest'
import { normalizeEvent } from './normalize.ts'
import { isRuntimeFrame } from './frames.ts'
import { isSdkFrame } from './sdk-frames.ts'

/** Frames that are not the app's, whatever the SDK says, and their neighbours, which are. */

const NOTHING = { filename: null, abs_path: null, function: null, module: null, package: null }
const SHOP = '/var/containers/Bundle/Application/1B/Shop.app/Shop'
const LIBC = '/lib/x86_64-linux-gnu/libc.so.6'

const SDK: [platform: string, frame: object][] = [
  ['native', { function: 'sentry_panic::panic_handler' }],
  ['native', { function: 'sentry::init' }],
  ['native', { function: '<sentry_core::hub::Hub>::with_active' }],
  ['native', { function: 'rust_begin_unwind' }],
  ['native', { function: '_rust_begin_unwind' }],
  ['native', { function: '__rustc::rust_begin_unwind' }],
  ['native', { function: 'std::panicking::rust_panic_with_hook::h0123456789abcdef' }],
  ['native', { function: 'std::sys::backtrace::__rust_begin_short_backtrace' }],
  ['native', { function: 'core::ops::function::FnOnce::call_once{{vtable.shim}}' }],
  ['native', { function: '__libc_start_main' }],
  ['native', { function: 'abort', package: LIBC }],
  ['native', { function: 'f', package: '/opt/app/libsentry.so' }],
  ['cocoa', { function: '-[SentryClient captureException:]', package: SHOP }],
  ['cocoa', { function: '+[SentrySDK captureError:]', package: SHOP }],
  ['cocoa', { function: 'sentrycrash_reportUserException', package: SHOP }],
  ['cocoa', { function: 'objc_exception_throw', package: '/usr/lib/libobjc.A.dylib' }],
  ['cocoa', { function: 'swift_unexpectedError', package: SHOP }],
  ['cocoa', { function: 'Swift runtime failure: arithmetic overflow', package: SHOP }],
  ['java', { module: 'io.sentry.spring.SentrySpringFilter', function: 'doFilter' }],
  ['go', { module: 'runtime', function: 'gopanic' }],
  ['go', { function: 'runtime.sigpanic' }],
  ['go', { module: 'github.com/getsentry/sentry-go/http', function: '(*Handler).recoverWithSentry' }],
  ['php', { function: 'Sentry\\State\\Hub::captureException', filename: '/Hub.php' }],
  ['php', { function: 'handle', filename: '/srv/vendor/sentry/sentry-symfony/src/Listener.php' }],
  ['ruby', { function: 'Sentry::Rack::CaptureExceptions#call', filename: 'capture_exceptions.rb' }],
  ['ruby', { function: 'block in Sentry.with_scope', filename: 'sentry-ruby.rb' }],
  ['ruby', { function: 'call', abs_path: '/bundle/gems/sentry-rails-5.22.1/lib/sentry/rails/x.rb' }],
  ['csharp', { module: 'Sentry.AspNetCore.SentryMiddleware', function: 'InvokeAsync' }],
  ['dart', { abs_path: 'package:sentry/src/hub.dart', function: 'Hub.captureException' }],
  ['dart', { abs_path: 'package:sentry_flutter/src/x.dart', function: 'x' }],
]

const RUNTIME: [platform: string, frame: object][] = [
  ['native', { function: 'pay', abs_path: '/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/x.rs' }],
  ['native', { function: 'f', filename: '/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/x.rs' }],
  ['native', { function: 'core::option::Option<T>::unwrap' }],
  ['native', { function: 'alloc::vec::Vec<T,A>::push', abs_path: 'library/alloc/src/vec/mod.rs' }],
  ['native', { function: '<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once' }],
  ['native', { function: '<T as core::convert::Into<U>>::into' }],
  ['native', { function: 'std::vector<int>::at(unsigned long)', package: '/app/game' }],
  ['native', { function: 'malloc', package: LIBC }],
  ['native', { function: 'f', package: 'C:\\Windows\\System32\\ntdll.dll' }],
  [
    'cocoa',
    { function: 'CFRunLoopRun', package: '/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation' },
  ],
  ['cocoa', { function: 'x', package: `${SHOP}/Frameworks/libswiftCore.dylib` }],
  ['cocoa', { function: 'x', package: '/usr/lib/libobjc.A.dylib' }],
  ['cocoa', { function: 'x', package: '/Library/Developer/x/RuntimeRoot/System/Library/Frameworks/UIKit' }],
  ['native', { function: 'x', package: '/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30' }],
  ['native', { function: 'x', package: '/lib/libc-2.31.so' }],
  ['native', { function: 'x', package: '/lib/ld-musl-x86_64.so.1' }],
  ['native', { function: 'x', package: '/data/app/lib/libc++_shared.so' }],
  ['java', { module: 'java.util.HashMap', function: 'get' }],
  ['java', { module: 'kotlinx.coroutines.DispatchedTask', function: 'run' }],
  ['android', { module: 'android.os.Looper', function: 'loop' }],
  ['go', { module: 'net/http', function: 'f', abs_path: '/usr/local/go/src/net/http/server.go' }],
  ['go', { module: 'net/http', function: 'f' }],
  ['go', { module: 'net/http', function: 'f', abs_path: 'net/http/server.go' }],
  ['php', { function: 'array_map', filename: '[internal]' }],
  ['ruby', { function: 'each', abs_path: '<internal:array>' }],
  ['ruby', { function: 'fetch', abs_path: '/usr/local/lib/ruby/3.3.0/json/common.rb' }],
  ['csharp', { module: 'System.Threading.Tasks.Task', function: 'Wait' }],
  ['csharp', { module: 'Microsoft.AspNetCore.Mvc.Controller', function: 'x' }],
  ['dart', { abs_path: 'dart:async/zone.dart', function: '_rootRun' }],
  ['dart', { abs_path: 'package:flutter/src/x.dart', function: 'x' }],
  ['javascript', { filename: 'webpack:///./node_modules/axios/lib/x.js', function: 'x' }],
  ['javascript', { filename: 'node_modules/a/x.js', abs_path: 'https://a.example.com/app.js', function: 'x' }],
  ['javascript', { filename: 'webpack:///webpack/bootstrap', function: '__webpack_require__' }],
  ['javascript', { filename: 'webpack://shop/webpack/runtime/jsonp chunk loading', function: 'x' }],
  ['javascript', { filename: 'http://localhost:5173/@vite/client', function: 'x' }],
  ['javascript', { filename: 'http://localhost:5173/node_modules/.vite/deps/axios.js?v=1', function: 'x' }],
  ['javascript', { filename: 'turbopack:///[turbopack]/browser/runtime.ts', function: 'x' }],
  ['node', { filename: '/srv/app/node_modules/express/index.js', function: 'x' }],
]

const APP: [platform: string, frame: object][] = [
  ['native', { function: 'sentry_box::guard' }],
  ['native', { function: 'sentry_tower_defense::shoot' }],
  ['native', { function: '<shop::Card as core::fmt::Display>::fmt' }],
  ['native', { function: '<core::option::Option<T> as shop::Pay>::pay' }],
  ['native', { function: '<T as shop::Pay>::pay' }],
  ['native', { function: 'core::Engine::tick', package: '/app/game' }],
  ['native', { function: 'core::time::Clock::now()', package: '/app/game' }],
  ['native', { function: 'core::mem::Pool::take', abs_path: '/src/engine/core/mem.cpp' }],
  ['native', { function: 'raise', package: '/app/casino' }],
  ['native', { function: 'tick', package: '/usr/lib/acme/acmed' }],
  ['native', { function: 'tick', package: '/opt/libcart.so' }],
  ['native', { function: 'tick', package: '/data/app/lib/libswiftpay.so' }],
  ['native', { function: 'tick', package: '/data/app/lib/libm-acme.so' }],
  ['native', { function: 'tick', package: '/data/app/lib/libcore.so' }],
  ['native', { function: 'swift_transfer', package: '/app/bank' }],
  ['native', { function: 'pay', abs_path: '/home/ada/rustc/src/pay.rs' }],
  ['cocoa', { function: '-[SentryPostOffice open]', package: SHOP }],
  ['cocoa', { function: 'SentryBox.open()', package: SHOP }],
  ['java', { module: 'io.sentry.samples.Main', function: 'main' }],
  ['java', { module: 'javafans.Club', function: 'x' }],
  ['java', { module: 'com.android.settings.Main', function: 'x' }],
  ['go', { module: 'github.com/acme/sentry-go-demo', function: 'x' }],
  ['go', { module: 'image/thumbs', function: 'x', abs_path: '/src/shop/image/thumbs/resize.go' }],
  ['go', { module: 'main', function: 'runtime.x' }],
  ['go', { module: 'shop/cart', function: 'x', abs_path: '/go/src/shop/cart/x.go' }],
  ['php', { function: 'SentryBox\\Guard::open', filename: '/src/Guard.php' }],
  ['ruby', { function: 'SentryBox#open', filename: 'app/sentry_box.rb' }],
  ['ruby', { function: 'fly', abs_path: '/usr/local/lib/ruby/gems/3.3.0/gems/acme-1.0/lib/acme/fly.rb' }],
  ['csharp', { module: 'Systematic.Club', function: 'x' }],
  ['csharp', { module: 'SentryHouse.Club', function: 'x' }],
  ['csharp', { module: 'Microsoft.Acme.Club', function: 'x' }],
  ['dart', { abs_path: 'package:sentryhouse/x.dart', function: 'x' }],
  ['javascript', { filename: 'https://shop.example.com/src/webpack/pay.js', function: 'x' }],
  ['javascript', { filename: 'https://shop.example.com/src/webpack/runtime/pay.js', function: 'x' }],
  ['javascript', { filename: 'https://shop.example.com/my_node_modules/pay.js', function: 'x' }],
  ['python', { module: 'sentry_box', filename: '/usr/lib/python3/x.py', function: 'x' }],
]

describe('frames', () => {
  test.each(SDK)('of an SDK: %s %j', (platform, frame) => {
    expect(isSdkFrame({ ...NOTHING, ...frame }, platform)).toBe(true)
    expect(isRuntimeFrame({ ...NOTHING, ...frame }, platform)).toBe(true)
  })

  test.each(RUNTIME)('of a runtime: %s %j', (platform, frame) => {
    expect(isSdkFrame({ ...NOTHING, ...frame }, platform)).toBe(false)
    expect(isRuntimeFrame({ ...NOTHING, ...frame }, platform)).toBe(true)
  })

  test.each(APP)('of the app: %s %j', (platform, frame) => {
    expect(isSdkFrame({ ...NOTHING, ...frame }, platform)).toBe(false)
    expect(isRuntimeFrame({ ...NOTHING, ...frame }, platform)).toBe(false)
  })
})

describe('the culprit', () => {
  const culpritOf = (platform: string, ...frames: object[]): string =>
    normalizeEvent(
      { platform, exception: { type: 'E', stacktrace: { frames } } },
      {
        eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
        receivedAt: new Date('2026-11-20T05:00:00Z'),
        sentAt: null,
        clientIp: null,
        userAgent: null,
      },
    ).culprit
  const OWN: Readonly<Record<string, object>> = {
    native: { function: 'shop::pay' },
    cocoa: { function: 'shop::pay', package: SHOP },
    java: { module: 'shop.Shop', function: 'pay' },
    android: { module: 'shop.Shop', function: 'pay' },
  }

  test.each([...SDK, ...RUNTIME])('is the function of the app below %s %j', (platform, frame) => {
    const own = OWN[platform] ?? { function: 'pay', filename: 'src/pay.x', abs_path: '/srv/src/pay.x' }
    expect(culpritOf(platform, { ...own, in_app: true }, { ...frame, in_app: true })).toMatch(/\bpay\b/)
  })

  test.each(SDK)('is empty where a stack holds nothing but %s %j', (platform, frame) => {
    expect(culpritOf(platform, { ...frame, in_app: true })).toBe('')
  })

  test('is a function of a library where a stack holds no other, but not of an SDK', () => {
    const library = { module: 'java.util.HashMap', function: 'get', in_app: false }
    const sdk = { module: 'io.sentry.Hub', function: 'capture', in_app: false }
    expect(culpritOf('java', library, sdk)).toBe('HashMap.get')
  })
})
