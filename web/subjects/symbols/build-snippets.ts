/** The lines with which builds upload files of symbols. Pure. */

export type Target = {
  readonly origin: string
  readonly org: string
  readonly project: string
  readonly platform: string
}

/** Variables that every tool of the Sentry family reads. */
export const writeEnvironment = ({ origin, org, project }: Target): string =>
  [
    `export SENTRY_URL=${origin}`,
    `export SENTRY_ORG=${org}`,
    `export SENTRY_PROJECT=${project}`,
    'export SENTRY_AUTH_TOKEN=svc_…',
  ].join('\n')

const SENTRY_CLI: Readonly<Record<string, readonly string[]>> = {
  web: ['sentry-cli sourcemaps inject ./dist', 'sentry-cli sourcemaps upload ./dist'],
  ios: ['sentry-cli debug-files upload --include-sources "$DWARF_DSYM_FOLDER_PATH"'],
  android: [
    'sentry-cli upload-proguard app/build/outputs/mapping/release/mapping.txt',
    'sentry-cli debug-files upload app/build/intermediates/merged_native_libs',
  ],
  'react-native': [
    'npx react-native bundle --platform android --entry-file index.js --bundle-output index.android.bundle --sourcemap-output index.android.bundle.map',
    'sentry-cli sourcemaps upload --release "$RELEASE" index.android.bundle index.android.bundle.map',
  ],
  flutter: [
    'sentry-cli debug-files upload build/symbols build/app/outputs',
    'sentry-cli dart-symbol-map upload build/obfuscation.map.json build/symbols/app.android-arm64.symbols',
  ],
}

const bundlerPlugin = (
  { origin, org, project }: Target,
  { name, file, exported, sourceMaps }: Readonly<Record<'name' | 'file' | 'exported' | 'sourceMaps', string>>,
): string =>
  `// ${file}, with the package @sentry/${name}
import { ${exported} } from "@sentry/${name}"

export default {
  ${sourceMaps},
  plugins: [
    ${exported}({
      url: '${origin}',
      org: '${org}',
      project: '${project}',
      authToken: process.env.SENTRY_AUTH_TOKEN,
      telemetry: false,
    }),
  ],
}`

/** The lines that a build needs, by tool. */
const TOOLS = {
  'sentry-cli': ({ platform }) => (SENTRY_CLI[platform] ?? SENTRY_CLI['web'] ?? []).join('\n'),
  Vite: (target) =>
    bundlerPlugin(target, {
      name: 'vite-plugin',
      file: 'vite.config.js',
      exported: 'sentryVitePlugin',
      sourceMaps: "build: { sourcemap: 'hidden' }",
    }),
  webpack: (target) =>
    bundlerPlugin(target, {
      name: 'webpack-plugin',
      file: 'webpack.config.mjs',
      exported: 'sentryWebpackPlugin',
      sourceMaps: "devtool: 'hidden-source-map'",
    }),
  esbuild: (target) =>
    bundlerPlugin(target, {
      name: 'esbuild-plugin',
      file: 'options of build()',
      exported: 'sentryEsbuildPlugin',
      sourceMaps: 'sourcemap: true',
    }),
  Metro: () => `// metro.config.js, with the package @sentry/react-native; the builds of Gradle and Xcode then upload
const { getDefaultConfig } = require('@react-native/metro-config')
const { withSentryConfig } = require('@sentry/react-native/metro')

module.exports = withSentryConfig(getDefaultConfig(__dirname))`,
  Gradle: ({ origin, org, project }) => `// app/build.gradle.kts, with the plugin io.sentry.android.gradle
sentry {
  url.set("${origin}")
  org.set("${org}")
  projectName.set("${project}")
  authToken.set(System.getenv("SENTRY_AUTH_TOKEN"))
  uploadNativeSymbols.set(true)
  telemetry.set(false)
}`,
  Xcode: (
    target,
  ) => `# Build phase "Run Script" of the target, with "User Script Sandboxing" off and "Debug Information Format" DWARF with dSYM
${writeEnvironment(target)}
sentry-cli debug-files upload --include-sources "$DWARF_DSYM_FOLDER_PATH"`,
  Fastlane: ({ origin, org, project }) => `# Fastfile, with the plugin fastlane-plugin-sentry
sentry_debug_files_upload(
  url: '${origin}',
  auth_token: ENV['SENTRY_AUTH_TOKEN'],
  org_slug: '${org}',
  project_slug: '${project}',
  include_sources: true
)`,
  Flutter: ({ origin, org, project }) => `# pubspec.yaml, with the package sentry_dart_plugin
sentry:
  url: ${origin}
  org: ${org}
  project: ${project}
  dart_symbol_map_path: build/obfuscation.map.json

# Then
flutter build apk --obfuscate --split-debug-info=build/symbols --extra-gen-snapshot-options=--save-obfuscation-map=build/obfuscation.map.json
dart run sentry_dart_plugin`,
} as const satisfies Readonly<Record<string, (target: Target) => string>>

export type Tool = keyof typeof TOOLS

const NATIVE: readonly Tool[] = ['sentry-cli', 'Xcode', 'Fastlane']
const OF_PLATFORM: Readonly<Record<string, readonly Tool[]>> = {
  ios: NATIVE,
  macos: NATIVE,
  android: ['sentry-cli', 'Gradle', 'Fastlane'],
  'react-native': ['sentry-cli', 'Metro', 'Gradle', 'Xcode', 'Fastlane'],
  flutter: ['sentry-cli', 'Flutter', 'Gradle', 'Xcode', 'Fastlane'],
}

/** The tools with which builds of a platform upload. */
export const listTools = ({ platform }: Pick<Target, 'platform'>): readonly Tool[] =>
  OF_PLATFORM[platform] ?? ['sentry-cli', 'Vite', 'webpack', 'esbuild']

/** The lines of a build with a tool. */
export const writeLines = (target: Target, tool: Tool): string => TOOLS[tool](target)
