import type { Handlers } from '../../platform/context/handlers.ts'
import { CODE_KINDS, NATIVE_KINDS } from '../files/symbol-kinds.api.ts'
import { deleteFile } from './delete-file.ts'
import { listFiles } from './list-files.ts'
import { uploadDsym } from './upload-dsym.ts'
import { uploadSourceMap } from './upload-source-map.ts'
import type { uploadRoutes } from './uploads.api.ts'
import { viewDsym, viewSourceMap } from './view-file.ts'

export const uploadHandlers: Handlers<typeof uploadRoutes> = {
  uploadSourceMap: async (app, actor, call) => {
    const { file, isKnown } = await uploadSourceMap(app, actor, call.params.projectId, call.upload())
    if (isKnown) call.useOtherStatus()
    return viewSourceMap(file)
  },
  listSourceMaps: (app, actor, { params, query }) =>
    listFiles(app, actor, { ...params, ...query }, CODE_KINDS, viewSourceMap),
  deleteSourceMap: (app, actor, { params }) =>
    deleteFile(app, actor, { projectId: params.projectId, fileId: params.mapId }, CODE_KINDS),
  uploadDsym: async (app, actor, call) => {
    const { files, areKnown } = await uploadDsym(app, actor, call.params.projectId, call.upload())
    if (areKnown) call.useOtherStatus()
    return { files: files.map(viewDsym) }
  },
  listDsyms: (app, actor, { params, query }) => listFiles(app, actor, { ...params, ...query }, NATIVE_KINDS, viewDsym),
  deleteDsym: (app, actor, { params }) => deleteFile(app, actor, params, NATIVE_KINDS),
}
