import type { Handlers } from '../platform/context/handlers.ts'
import type { symbolsContract } from './contract.api.ts'
import { uploadProtocolHandlers } from './upload-protocol/upload-protocol.handlers.ts'
import { uploadHandlers } from './uploads/uploads.handlers.ts'

/** The handler of every endpoint of this district. */
export const symbolsHandlers: Handlers<typeof symbolsContract> = { ...uploadHandlers, ...uploadProtocolHandlers }
