import { resolve } from 'node:path'
import { type PositionedFile, SymbolFileError } from '../index-file/built-index.ts'
import { withFile } from '../index-file/with-file.ts'
import { isBreakpad } from '../native/breakpad.ts'
import { isElf } from '../native/elf.ts'
import { listObjects } from '../native/list-objects.ts'
import { machOSlices } from '../native/mach-o.ts'
import type { NativeObject } from '../native/native-object.ts'
import { checkSize } from './check-size.ts'
import type { Plan, PlannedUpload } from './plan.ts'
import { walkFiles } from './walk-files.ts'

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
