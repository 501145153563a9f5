import { purgeTask } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** An expired invitation can be sent again for 30 days; then the address of someone who never came is deleted. */
export const purgeInvitesTask = purgeTask('purge-invites', '23 3 * * *', [
  { rows: ownRows('invites'), column: 'expires_at', kept: { ms: 30 * DAY_MS } },
])
