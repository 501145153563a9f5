import { uploadProtocolRoutes } from './upload-protocol/upload-protocol.api.ts'
import { uploadRoutes } from './uploads/uploads.api.ts'

/** The endpoints of this district. */
export const symbolsContract = { ...uploadRoutes, ...uploadProtocolRoutes }
