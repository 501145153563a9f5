import type { SeverityName } from '#shared/issue-values.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import { enqueue } from '../../platform/outbox/enqueue.ts'
import { laneIdFor } from '../../platform/outbox/lane-id.ts'
import { openLane } from '../../platform/outbox/change-lane.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { PushDevice } from './devices.api.ts'
import { DEFAULTS, heldUntil, computeHoldMs, wantsPush } from './preferences.ts'
import { selectSilent } from './projects.queries.ts'
import { pushChannel } from './push-channel.ts'
import { fittingContent, type PushBody, type PushContent } from './push-message.ts'
import type { Provider } from './push-token.ts'
import { selectRecipients } from './pushes.queries.ts'
import { readMemberPreferences } from './read-preferences.ts'

export type Notice = PushContent & {
  readonly orgId: string
  /** Members who turned pushes of this project off get none. */
  readonly projectId?: string
  /** Absent: all members who asked for pushes. */
  readonly userIds?: readonly string[]
  /** The type of the message in the outbox, such as `alert.fired`. */
  readonly type: string
  readonly severity: SeverityName
  readonly at: Date
}

/** A push on its way to a device. */
export type NotifiedDevice = {
  readonly deliveryId: string
  readonly deviceId: string
  readonly userId: string
  /** The masked token. */
  readonly label: string
  /** The end of the member's quiet hours; null when it is sent at once. */
  readonly heldUntil: Date | null
}

/**
 * Sends a push to each device of members who asked for it, when the transaction commits or the member's quiet hours end.
 * Texts are cut to what providers take; `data` says what the app opens and holds no secrets.
 */
export async function notifyMembers(tx: Tx, notice: Notice): Promise<NotifiedDevice[]> {
  const { orgId, type, severity, at } = notice
  const rows = await selectRecipients(tx, orgId, notice.userIds)
  const preferences = await readMemberPreferences(tx, orgId, [...new Set(rows.map((row) => row.user_id))])
  const silent =
    notice.projectId === undefined
      ? new Set()
      : await selectSilent(tx, 'push', { orgId, projectId: notice.projectId }, [...preferences.keys()])
  const content = fittingContent(notice)
  const chosen = rows.flatMap((row) => {
    const ofMember = preferences.get(row.user_id) ?? DEFAULTS
    if (!wantsPush(ofMember, severity) || silent.has(row.user_id)) return []
    const provider = PushDevice.shape.provider.parse(row.provider)
    return [{ ...row, provider, messageId: newPrefixedId('evt'), heldUntil: heldUntil(ofMember, severity, at) }]
  })
  for (const provider of new Set(chosen.map((one) => one.provider)))
    await openLane(tx, { id: pushLaneId(orgId, provider), orgId, channel: pushChannel.name })
  const deliveryIds = await enqueue(
    tx,
    chosen.map(({ messageId, id, user_id: userId }) => ({
      id: messageId,
      orgId,
      type,
      userId,
      body: bodyOf({ device_id: id, user_id: userId, ...content }),
    })),
    chosen.map(({ messageId, provider, heldUntil: until }) => ({
      messageId,
      laneId: pushLaneId(orgId, provider),
      holdMs: computeHoldMs(until, at),
    })),
  )
  return chosen.map(({ id, user_id: userId, token_masked: label, heldUntil: until }, index) => ({
    deliveryId: deliveryIds[index] ?? '',
    deviceId: id,
    userId,
    label,
    heldUntil: until,
  }))
}

const bodyOf = (push: PushBody): Buffer => Buffer.from(JSON.stringify(push))

/** A slow provider holds up neither the other one nor other organisations. */
const pushLaneId = (orgId: string, provider: Provider): string => laneIdFor(`pushes of ${orgId} through ${provider}`)
