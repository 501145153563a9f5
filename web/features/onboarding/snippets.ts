import type { Project } from '../../api/queries.ts'

/** The code that connects an SDK to this installation, with all values filled in. */

export type SnippetPlatform = Project['platform'] | 'node'

export type Snippet = {
  platform: SnippetPlatform
  /** The command of the installation; null if the build file does it. */
  install: string | null
  /** The file of the code. */
  file: string
  code: string
}

export const SNIPPET_PLATFORMS: readonly SnippetPlatform[] = [
  'android',
  'ios',
  'react-native',
  'flutter',
  'web',
  'node',
]

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
}

export const snippetFor = (platform: SnippetPlatform, dsn: string): Snippet => ({
  platform,
  ...BY_PLATFORM[platform](dsn),
})
