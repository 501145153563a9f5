import type { KnownPlatform } from '#shared/platforms.ts'
import type { Project } from '../../api/queries.ts'

/** The code that connects an SDK to this installation, with all values filled in. */

/** Platforms of servers: their projects are of the platform `web`. */
export const SERVERS = [
  'node',
  'python',
  'java',
  'go',
  'ruby',
  'php',
  'csharp',
  'rust',
] as const satisfies readonly KnownPlatform[]
export type SnippetPlatform = Project['platform'] | (typeof SERVERS)[number]

export const isServer = (platform: SnippetPlatform): platform is (typeof SERVERS)[number] =>
  SERVERS.some((one) => one === platform)

export type Snippet = {
  platform: SnippetPlatform
  /** The command of the installation; null if the build file does it. */
  install: string | null
  /** The file of the code. */
  file: string
  code: string
}

export const APPS = [
  'android',
  'ios',
  'react-native',
  'flutter',
  'web',
] as const satisfies readonly Project['platform'][]
export const SNIPPET_PLATFORMS: readonly SnippetPlatform[] = [...APPS, ...SERVERS]

const BY_PLATFORM: Readonly<Record<SnippetPlatform, (dsn: string) => Omit<Snippet, 'platform'>>> = {
  android: (dsn) => ({
    install: null,
    file: 'app/build.gradle.kts, Application.kt',
    code: `// app/build.gradle.kts
dependencies {
    implementation("io.sentry:sentry-android:8.+")
}

// Application.kt
class App : Application() {
    override fun onCreate() {
        super.onCreate()
        SentryAndroid.init(this) { options ->
            options.dsn = "${dsn}"
            options.isAnrEnabled = true          // app not responding
        }
        Sentry.captureException(Exception("Hello from Android"))
    }
}`,
  }),
  ios: (dsn) => ({
    install: null,
    file: 'App.swift, package https://github.com/getsentry/sentry-cocoa',
    code: `import Sentry
import SwiftUI

@main
struct MyApp: App {
    init() {
        SentrySDK.start { options in
            options.dsn = "${dsn}"
            options.enableAppHangTracking = true
        }
        SentrySDK.capture(message: "Hello from iOS")
    }

    var body: some Scene {
        WindowGroup { ContentView() }
    }
}`,
  }),
  'react-native': (dsn) => ({
    install: 'npm install @sentry/react-native && npx pod-install',
    file: 'App.tsx',
    code: `import * as Sentry from '@sentry/react-native'

Sentry.init({
  dsn: '${dsn}',
})

Sentry.captureException(new Error('Hello from React Native'))

export default Sentry.wrap(App)`,
  }),
  flutter: (dsn) => ({
    install: 'flutter pub add sentry_flutter',
    file: 'lib/main.dart',
    code: `import 'package:flutter/widgets.dart';
import 'package:sentry_flutter/sentry_flutter.dart';

Future<void> main() async {
  await SentryFlutter.init(
    (options) => options.dsn = '${dsn}',
    appRunner: () => runApp(const MyApp()),
  );
  await Sentry.captureException(Exception('Hello from Flutter'));
}`,
  }),
  web: (dsn) => ({
    install: 'npm install @sentry/browser',
    file: 'main.js, before anything else',
    code: `import * as Sentry from '@sentry/browser'

Sentry.init({
  dsn: '${dsn}',
})

Sentry.captureException(new Error('Hello from the web'))`,
  }),
  node: (dsn) => ({
    install: 'npm install @sentry/node',
    file: 'instrument.mjs, loaded with node --import ./instrument.mjs',
    code: `import * as Sentry from '@sentry/node'

Sentry.init({
  dsn: '${dsn}',
})

Sentry.captureException(new Error('Hello from Node.js'))`,
  }),
  python: (dsn) => ({
    install: 'pip install --upgrade sentry-sdk',
    file: 'app.py, before anything else',
    code: `import sentry_sdk

sentry_sdk.init(dsn="${dsn}")

sentry_sdk.capture_exception(Exception("Hello from Python"))`,
  }),
  java: (dsn) => ({
    install: null,
    file: 'build.gradle.kts, Main.java',
    code: `// build.gradle.kts
dependencies {
    implementation("io.sentry:sentry:8.+")
}

// Main.java
import io.sentry.Sentry;

public class Main {
    public static void main(String[] args) {
        Sentry.init(options -> options.setDsn("${dsn}"));
        Sentry.captureException(new Exception("Hello from Java"));
    }
}`,
  }),
  go: (dsn) => ({
    install: 'go get github.com/getsentry/sentry-go',
    file: 'main.go',
    code: `package main

import (
	"errors"
	"log"
	"time"

	"github.com/getsentry/sentry-go"
)

func main() {
	err := sentry.Init(sentry.ClientOptions{Dsn: "${dsn}"})
	if err != nil {
		log.Fatal(err)
	}
	defer sentry.Flush(2 * time.Second)

	sentry.CaptureException(errors.New("Hello from Go"))
}`,
  }),
  ruby: (dsn) => ({
    install: 'bundle add sentry-ruby',
    file: 'app.rb, before anything else',
    code: `require "sentry-ruby"

Sentry.init do |config|
  config.dsn = "${dsn}"
end

Sentry.capture_exception(StandardError.new("Hello from Ruby"))`,
  }),
  php: (dsn) => ({
    install: 'composer require sentry/sentry',
    file: 'index.php, before anything else',
    code: `require_once __DIR__ . '/vendor/autoload.php';

\\Sentry\\init(['dsn' => '${dsn}']);

\\Sentry\\captureException(new \\Exception('Hello from PHP'));`,
  }),
  csharp: (dsn) => ({
    install: 'dotnet add package Sentry',
    file: 'Program.cs',
    code: `using Sentry;

SentrySdk.Init(options => options.Dsn = "${dsn}");

SentrySdk.CaptureException(new Exception("Hello from .NET"));
SentrySdk.Flush();`,
  }),
  rust: (dsn) => ({
    install: 'cargo add sentry',
    file: 'src/main.rs',
    code: `fn main() {
    let _guard = sentry::init((
        "${dsn}",
        sentry::ClientOptions {
            release: sentry::release_name!(),
            ..Default::default()
        },
    ));

    sentry::capture_message("Hello from Rust", sentry::Level::Error);
}`,
  }),
}

export const snippetFor = (platform: SnippetPlatform, dsn: string): Snippet => ({
  platform,
  ...BY_PLATFORM[platform](dsn),
})
