import { SymbolFileError } from '../index-file/built-index.ts'
import { MappingFile } from '../proguard/mapping-file.ts'
import { readEdges } from '../source-maps/file-edges.ts'
import { checkSize } from './check-size.ts'
import { type Plan, UploadError } from './plan.ts'
import { walkFiles } from './walk-files.ts'

export type MappingOptions = { readonly release?: string; readonly uuid?: string }

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
