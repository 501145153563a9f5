import type { z } from 'zod'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { TwoFactor } from './two-factor.api.ts'
import { countUnusedCodes, readFactor } from './two-factor.queries.ts'

/** Whether the caller's log-in asks for a code. */
export async function readTwoFactor(app: App, actor: SessionActor): Promise<z.input<typeof TwoFactor>> {
  const factor = await readFactor(app.db, actor.userId)
  if (factor === null || factor.verified_at === null) return { enabled: false, enrolled_at: null, backup_codes_left: 0 }
  return {
    enabled: true,
    enrolled_at: factor.verified_at.toISOString(),
    backup_codes_left: await countUnusedCodes(app.db, factor.id),
  }
}
