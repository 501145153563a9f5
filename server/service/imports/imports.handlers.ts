import type { Handlers } from '../../platform/context/handlers.ts'
import { changeImport } from './change-import.ts'
import { createImport } from './create-import.ts'
import type { importRoutes } from './imports.api.ts'
import { listDifferences, listImports, readImport } from './view-import.ts'

export const importHandlers: Handlers<typeof importRoutes> = {
  listImports: (app, actor, { query }) => listImports(app, actor, query),
  createImport: (app, actor, { body }) => createImport(app, actor, body),
  readImport: (app, actor, { params }) => readImport(app, actor, params.importId),
  changeImport: (app, actor, { params, body }) => changeImport(app, actor, params.importId, body),
  listImportDifferences: (app, actor, { params }) => listDifferences(app, actor, params.importId),
}
