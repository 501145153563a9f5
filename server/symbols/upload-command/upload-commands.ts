import { text } from 'node:stream/consumers'
import { isReleaseName } from '#shared/release-name.ts'
import { readUploadEnvironment, type UploadEnvironment } from '../../config.ts'
import type { Target } from './call-server.ts'
import { findDebugFiles } from './find-debug-files.ts'
import { findMapping } from './find-mapping.ts'
import { findSourceMaps } from './find-source-maps.ts'
import { type Plan, UploadError } from './plan.ts'
import { describeUpload, runUploads } from './run-uploads.ts'
import { createScreen, type Screen } from './screen.ts'

/**
 * `faultline upload …`: a client of the API for builds without other upload tools. It reads neither the database nor the
 * configuration of a service, and takes its API key from the environment or standard input.
 */

export type UploadOptions = {
  readonly url?: string
  readonly project?: string
  readonly token?: string | true
  readonly tokenStdin?: boolean
  readonly wait?: boolean
  readonly timeout: number
  readonly dryRun?: boolean
}

type Named = { readonly release?: string }

export const uploadSourceMapsCommand = (
  paths: readonly string[],
  options: UploadOptions & Named & { readonly dist?: string; readonly urlPrefix: string },
): Promise<void> => uploading(options, 'source maps', () => findSourceMaps(paths, named(options)))

export const uploadMappingCommand = (
  path: string,
  options: UploadOptions & Named & { readonly uuid?: string },
): Promise<void> => uploading(options, 'mapping', () => findMapping(path, named(options)))

export const uploadAppleFilesCommand = (paths: readonly string[], options: UploadOptions): Promise<void> =>
  uploading(options, 'debug files', () => findDebugFiles(paths, 'apple'))

export const uploadElfFilesCommand = (paths: readonly string[], options: UploadOptions): Promise<void> =>
  uploading(options, 'debug files', () => findDebugFiles(paths, 'elf'))

/** @throws UploadError */
function named<T extends Named>(options: T): T {
  const release = options.release?.trim()
  if (release === undefined) return options
  if (!isReleaseName(release)) throw new UploadError(`--release ${JSON.stringify(release)} is no name of a release.`)
  return { ...options, release }
}

async function uploading(options: UploadOptions, what: string, find: () => Promise<Plan>): Promise<void> {
  const screen = createScreen(process.stdout, process.stderr)
  try {
    process.exitCode = (await upload(options, what, find, screen)) ? 0 : 1
  } catch (error) {
    // Files that cannot be read are among the errors of the system.
    if (!(error instanceof UploadError) && !(error instanceof Error && 'syscall' in error)) throw error
    screen.error(error.message)
    process.exitCode = 1
  }
}

/** @returns whether every file is stored, and indexed where that is waited for */
async function upload(
  options: UploadOptions,
  what: string,
  find: () => Promise<Plan>,
  screen: Screen,
): Promise<boolean> {
  const { folder, ...environment } = readUploadEnvironment()
  if (options.token !== undefined)
    throw new UploadError(
      'A token among the arguments can be read by other users of this machine. Set FAULTLINE_TOKEN, or use --token-stdin.',
    )
  const isDry = options.dryRun === true
  const service = isDry ? null : await serviceOf(options, environment)
  process.chdir(folder)
  const plan = await find()
  for (const line of plan.leftOut) screen.line(line)
  for (const line of plan.problems) screen.error(line)
  const isAllFound = plan.problems.length === 0
  if (plan.uploads.length === 0) {
    if (isAllFound) screen.error(`There are no ${what} to send. Name the folder that the build writes to.`)
    return false
  }
  if (service === null) {
    for (const planned of plan.uploads) screen.line(`${describeUpload(planned)}: would be sent`)
    return isAllFound
  }
  const wait = options.wait === true ? { timeoutMs: options.timeout * 1_000 } : null
  const isDone = await runUploads(plan.uploads, { ...service, wait, screen })
  return isDone && isAllFound
}

/** @throws UploadError */
async function serviceOf(
  options: UploadOptions,
  environment: Omit<UploadEnvironment, 'folder'>,
): Promise<{ readonly target: Target; readonly project: string }> {
  const address = options.url ?? environment.url
  if (address === null)
    throw new UploadError('The address of Faultline is missing. Set FAULTLINE_URL, or use --url https://….')
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/u.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UploadError('--url must be an address like https://faultline.example.com, without a user name.')
  const token = options.tokenStdin === true ? (await text(process.stdin)).trim() : environment.token
  if (token === null || token === '')
    throw new UploadError(
      'There is no token. Create an API key with the scopes uploads:write, releases:read and projects:read in the dashboard, and set FAULTLINE_TOKEN.',
    )
  if (!/^[\x21-\x7E]+$/u.test(token))
    throw new UploadError('The token has characters that no API key has. Copy it again.')
  const project = options.project ?? environment.project
  if (project === null) throw new UploadError('The project is missing. Set FAULTLINE_PROJECT, or use --project.')
  return { target: { url: new URL(`${url.origin}${url.pathname.replace(/\/*$/u, '/')}`), token }, project }
}
