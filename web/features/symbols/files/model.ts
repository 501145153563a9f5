/** The kind of a file by its name, and the lines that build tools need. Pure. */

export type UploadKind = 'js_source_map' | 'proguard' | 'native'

/** By the ending of the name: `.map`, `.txt`, anything else. */
export function kindOfFile(name: string): UploadKind {
  if (/\.map(?:\.json)?$/iu.test(name)) return 'js_source_map'
  return /\.txt$/iu.test(name) ? 'proguard' : 'native'
}

/** Address and form of an upload. */
export function buildForm(
  projectId: string,
  file: File,
  release: string,
): { readonly address: string; readonly form: FormData } {
  const kind = kindOfFile(file.name)
  const form = new FormData()
  const base = `/api/projects/${projectId}`
  if (kind !== 'native') {
    form.set('symbolication_type', kind)
    if (release.trim() !== '') form.set('release', release.trim())
    form.set('filename', file.name)
  }
  form.set('file', file)
  return { address: `${base}/${kind === 'native' ? 'dsyms' : 'source-maps'}`, form }
}

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

const WEB = ['sentry-cli sourcemaps inject ./dist', 'sentry-cli sourcemaps upload ./dist']
const IOS = ['sentry-cli debug-files upload --include-sources "$DWARF_DSYM_FOLDER_PATH"']
const ANDROID = [
  'sentry-cli upload-proguard app/build/outputs/mapping/release/mapping.txt',
  'sentry-cli debug-files upload app/build/intermediates/merged_native_libs',
]
const REACT_NATIVE = [
  'npx react-native bundle --platform android --entry-file index.js --bundle-output index.android.bundle --sourcemap-output index.android.bundle.map',
  'sentry-cli sourcemaps upload --release "$RELEASE" index.android.bundle index.android.bundle.map',
]
const FLUTTER = [
  'flutter build apk --obfuscate --split-debug-info=build/symbols',
  'sentry-cli debug-files upload build/symbols build/app/outputs',
]

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  ios: IOS,
  android: ANDROID,
  'react-native': [...REACT_NATIVE, ...IOS, ...ANDROID],
  flutter: [...FLUTTER, ...IOS],
}

/** The lines of a build for the platform of the project; those of the web for others. */
export const writeCommands = ({ platform }: Target): string => (COMMANDS[platform] ?? WEB).join('\n')
