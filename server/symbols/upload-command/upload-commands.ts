import { text } from 'node:stream/consumers'
import { isReleaseName } from '#shared/release-name.ts'
import { readUploadEnvironment, type UploadEnvironment } from '../../config/upload.ts'
import type { Target } from './call-server.ts'
import { findSourceMaps } from './find-source-maps.ts'
import { type Plan, UploadError, type PlannedUpload } from './plan.ts'
import { describeUpload, runUploads } from './run-uploads.ts'
import { createScreen, type Screen } from './screen.ts'
import { resolve } from 'node:path'
import { type PositionedFile, SymbolFileError } from '../index-file/built-index.ts'
import { withFile } from '../index-file/with-file.ts'
import { isBreakpad } from '../native/breakpad.ts'
import { isElf } from '../native/elf.ts'
import { listObjects } from '../native/list-objects.ts'
import { machOSlices } from '../native/mach-o.ts'
import type { NativeObject } from '../native/native-object.ts'
import { checkSize } from './check-size.ts'
import { walkFiles } from './walk-files.ts'
import { MappingFile } from '../proguard/mapping-file.ts'
import { readEdges } from '../source-maps/file-edges.ts'

/**
 * `faultline upload …`: a client of the API for builds without other upload tools. It reads neither the database nor the
 * configuration of a service, and takes its API key from the environment or standard input.
 */

type UploadOptions = {
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

/** The files of a platform, whatever their names are. */
export type Platform = 'apple' | 'elf'

type Format = 'macho' | 'elf' | 'breakpad' | 'zip' | 'intermediate' | 'other'
type Debug = PlannedUpload & { readonly objects: readonly NativeObject[] }

const WANTED: Readonly<Record<Platform, readonly Format[]>> = { apple: ['macho', 'zip'], elf: ['elf', 'breakpad'] }
const REFUSALS: Readonly<Record<Platform, string>> = {
  apple: 'This is no Mach-O file, .dSYM or zip. ELF and Breakpad files go with "faultline upload elf".',
  elf: 'This is no ELF or Breakpad file. Mach-O files and .dSYM go with "faultline upload dsym".',
}
const STRIPPED =
  'stripped, it has no symbols. Send the file from before it was stripped, or its file of debug information'

/**
 * Finds debug files by their first bytes. Archives are sent when they are named, and opened by the server.
 * @throws UploadError when a path cannot be read
 */
export async function findDebugFiles(paths: readonly string[], platform: Platform): Promise<Plan> {
  const files = new Map<string, Debug>()
  const leftOut: string[] = []
  const problems: string[] = []
  for await (const { path, sizeBytes, isNamed } of walkFiles(paths)) {
    const refuse = (reason: string): void =>
      void (isNamed ? problems.push(`${path}: ${reason}`) : leftOut.push(`${path}: left out: ${reason}`))
    if (sizeBytes === 0) {
      if (isNamed) refuse('The file is empty. Build it again.')
      continue
    }
    try {
      const format = withFile(path, formatOf)
      if (!WANTED[platform].includes(format)) {
        if (isNamed) refuse(REFUSALS[platform])
        continue
      }
      if (format === 'zip' && !isNamed) continue
      const tooLarge = checkSize(sizeBytes, 'macho')
      if (tooLarge !== null) {
        problems.push(`${path}: ${tooLarge}`)
        continue
      }
      const objects = format === 'zip' ? [] : withFile(path, listObjects).objects
      if (format !== 'zip' && !objects.some(({ features }) => features.debug || features.symtab))
        leftOut.push(`${path}: left out: ${STRIPPED}.`)
      else files.set(resolve(path), { path, sizeBytes, to: 'dsyms', fields: {}, names: objects.map(nameOf), objects })
    } catch (error) {
      if (!(error instanceof SymbolFileError)) throw error
      refuse(error.message)
    }
  }
  const all = [...files.values()]
  const better = all.map((file) => all.find((other) => isBetter(other, file)))
  for (const [n, file] of all.entries()) {
    const other = better[n]
    if (other !== undefined)
      leftOut.push(`${file.path}: left out: ${other.path} has the debug information of the same build.`)
  }
  return { uploads: all.filter((_, n) => better[n] === undefined), leftOut, problems }
}

const nameOf = ({ cpuName, debugId }: NativeObject): string => `${cpuName} ${debugId}`

/** The program of a build beside its debug information: its symbols would only be in the way. */
const isBetter = (one: Debug, than: Debug): boolean =>
  than.objects.length > 0 &&
  than.objects.every(
    ({ features, debugId }) =>
      !features.debug && one.objects.some((other) => other.features.debug && other.debugId === debugId),
  )

const ZIP = 'PK\u0003\u0004'
const ET_REL = 1
const MH_OBJECT = 1

/** @throws SymbolFileError when it is a Mach-O file that cannot be read */
function formatOf(file: PositionedFile): Format {
  const head = file.read(0, 18)
  if (isBreakpad(file)) return 'breakpad'
  // Object files are linked into what is sent, and no event names them.
  if (isElf(file)) return head.readUInt16LE(16) === ET_REL ? 'intermediate' : 'elf'
  if (head.toString('latin1', 0, 4) === ZIP) return 'zip'
  const slices = machOSlices(file)
  if (slices === undefined) return 'other'
  return slices[0]?.offset === 0 && head.readUInt32LE(12) === MH_OBJECT ? 'intermediate' : 'macho'
}

type MappingOptions = { readonly release?: string; readonly uuid?: string }

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu

/**
 * A mapping of ProGuard or R8.
 * @throws UploadError when the path or the names are of no use
 */
export async function findMapping(path: string, { release, uuid }: MappingOptions): Promise<Plan> {
  if (release === undefined && uuid === undefined)
    throw new UploadError('Name the release with --release, or with --uuid the UUID that the build put into the app.')
  if (uuid !== undefined && !UUID.test(uuid))
    throw new UploadError('--uuid must be a UUID like bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10.')
  for await (const { sizeBytes, isNamed } of walkFiles([path])) {
    if (!isNamed) break
    const problem = checkSize(sizeBytes, 'proguard') ?? readProblem(await readEdges(path))
    if (problem !== null) return { uploads: [], leftOut: [], problems: [`${path}: ${problem}`] }
    const fields = {
      symbolication_type: 'proguard',
      ...(release === undefined ? {} : { release }),
      ...(uuid === undefined ? {} : { debug_id: uuid.toLowerCase() }),
    }
    const names = [uuid, release].filter((name) => name !== undefined)
    return { uploads: [{ path, sizeBytes, to: 'source-maps', fields, names }], leftOut: [], problems: [] }
  }
  throw new UploadError(`${path} is a folder. Name the mapping.txt in it.`)
}

/** Classes are named everywhere in a mapping, so that its edges tell. */
function readProblem(edges: Buffer): string | null {
  try {
    void new MappingFile(edges)
    return null
  } catch (error) {
    if (error instanceof SymbolFileError) return error.message
    throw error
  }
}
