import type { MissingFile } from '../../symbols/symbolication/readable-frame.ts'

/** The organisation and project that a tool uploads to, and the release. */
export type UploadTarget = { readonly org: string; readonly project: string; readonly release: string | null }

/** The command that uploads a missing file, with the values of the event. Texts of events are quoted for a shell. */
export function uploadCommand({ kind, debugId }: MissingFile, { org, project, release }: UploadTarget): string {
  const where = `--org ${quoted(org)} --project ${quoted(project)}`
  switch (kind) {
    case 'source_map':
      return debugId === null && release !== null
        ? `sentry-cli sourcemaps upload ${where} --release ${quoted(release)} ./dist`
        : `sentry-cli sourcemaps upload ${where} ./dist`
    case 'mapping':
      return debugId === null
        ? `sentry-cli upload-proguard ${where} app/build/outputs/mapping/release/mapping.txt`
        : `sentry-cli upload-proguard ${where} --uuid ${quoted(debugId)} app/build/outputs/mapping/release/mapping.txt`
    case 'debug_file':
      return debugId === null
        ? `sentry-cli debug-files upload ${where} ./build`
        : `sentry-cli debug-files upload ${where} --id ${quoted(debugId)} ./build`
  }
}

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
