import type { Handlers } from '../platform/context/handlers.ts'
import type { ingestContract } from './contract.api.ts'
import { filterHandlers } from './filters/filters.handlers.ts'
import { intakeHandlers } from './outcomes/intake.handlers.ts'
import { scrubbingHandlers } from './scrubbing/scrubbing.handlers.ts'

/** The handler of every endpoint of this district. */
export const ingestHandlers: Handlers<typeof ingestContract> = {
  ...filterHandlers,
  ...scrubbingHandlers,
  ...intakeHandlers,
}
