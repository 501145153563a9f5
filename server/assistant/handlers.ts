import type { Handlers } from '../platform/context/handlers.ts'
import { askHandlers } from './ask/ask.handlers.ts'
import type { assistantContract } from './contract.api.ts'
import { modelHandlers } from './models/models.handlers.ts'

/** The handler of every endpoint of this district. */
export const assistantHandlers: Handlers<typeof assistantContract> = {
  ...modelHandlers(() =>
    Promise.resolve({ available: false, reason: 'This version has no statements of questions.', setup_sql: [] }),
  ),
  ...askHandlers(null),
}
