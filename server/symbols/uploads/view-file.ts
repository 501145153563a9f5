import type { SymbolFileRow } from '../files/symbol-files.queries.ts'
import { CODE_KINDS, NATIVE_KINDS } from '../files/symbol-kinds.api.ts'
import type { Dsym, SourceMap } from './uploads.api.ts'

const sharedOf = (row: SymbolFileRow) => ({
  id: row.id,
  name: row.name,
  debug_id: row.debug_id,
  size_bytes: row.size_bytes,
  state: row.state,
  problem: row.problem,
  uploaded_by: row.created_by === null ? null : { id: row.created_by, name: row.uploader ?? '' },
  created_at: row.created_at.toISOString(),
})

export const viewSourceMap = (row: SymbolFileRow): SourceMap => ({
  ...sharedOf(row),
  symbolication_type: CODE_KINDS.find((kind) => kind === row.kind) ?? 'js_source_map',
  filename: row.url,
  release: row.release,
  dist: row.dist,
})

export const viewDsym = (row: SymbolFileRow): Dsym => ({
  ...sharedOf(row),
  kind: NATIVE_KINDS.find((kind) => kind === row.kind) ?? 'macho',
  uuid: row.debug_id,
  code_id: row.code_id,
  cpu_name: row.cpu_name,
  features: row.features,
})
