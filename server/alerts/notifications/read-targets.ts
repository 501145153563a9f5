import type { App } from '../../platform/context/app.ts'
import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { PushDevice } from './devices.api.ts'
import { selectTargets } from './pushes.queries.ts'
import { type Provider, tokenPlace } from './push-token.ts'

/** A device to which pushes may be sent now. */
export type Target = {
  readonly deviceId: string
  readonly userId: string
  readonly orgId: string
  readonly provider: Provider
  /** Null when it cannot be opened. */
  readonly token: string | null
}

/** The devices that are registered, of active members, by id. */
export async function readTargets(app: App, deviceIds: readonly string[]): Promise<ReadonlyMap<string, Target>> {
  const rows = await selectTargets(app.db, deviceIds)
  const targets = new Map<string, Target>()
  for (const [orgId, ofOrg] of Map.groupBy(rows, (row) => row.org_id)) {
    const opener = await lenientOpener(app, orgId)
    for (const { id, user_id: userId, provider, token_sealed: sealed } of ofOrg) {
      let token: string | null = null
      try {
        token = opener.open(sealed, tokenPlace(orgId, id)).toString()
      } catch (error) {
        app.log.error({ err: error, device_id: id }, 'the token of a device cannot be opened')
      }
      targets.set(id, { deviceId: id, userId, orgId, provider: PushDevice.shape.provider.parse(provider), token })
    }
  }
  return targets
}
