import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'

/** Phones and browsers of members that receive pushes. */

export const MAX_DEVICES_PER_USER = 20
export const MAX_DEVICES_PER_ORG = 5_000

const PLATFORMS = ['ios', 'android', 'web'] as const
const FORM = 'ExponentPushToken[…], ExpoPushToken[…] or a registration token of FCM'

export const PushDevice = z.object({
  id: Id,
  platform: z.enum(PLATFORMS),
  provider: z.enum(['expo', 'fcm']).describe('Who delivers its pushes, by the form of the token.'),
  provider_configured: z.boolean().describe('Whether this installation can send through the provider.'),
  token: z.string().describe('Masked.'),
  created_at: Timestamp,
  registered_at: Timestamp.describe('When an app sent the token last.'),
  last_sent_at: Timestamp.nullable().describe('When the provider accepted a push last; null before one.'),
  last_error: z
    .object({ code: z.string(), text: z.string(), at: Timestamp })
    .nullable()
    .describe('Of the newest push that failed; null after a later success.'),
})
z.globalRegistry.add(PushDevice, { id: 'PushDevice' })
export type PushDevice = z.infer<typeof PushDevice>

export const TestPushResult = z.object({
  outcome: z.enum(['delivered', 'failed']).describe('delivered: the provider took the push.'),
  error: z.object({ code: z.string(), text: z.string() }).nullable(),
  device_removed: z.boolean().describe('The provider said that the token is dead.'),
})

const deviceParams = z.object({ deviceId: Id })

export const pushDeviceRoutes = routes({
  registerPushDevice: {
    method: 'POST',
    path: '/api/notifications/devices',
    tag: 'Notifications',
    summary: 'Register a device for pushes',
    description: `The same token again answers 200: it belongs to the user who registered it last. A user can have ${MAX_DEVICES_PER_USER} devices in an organisation. Log-out, or deleting the API key, removes the device that was registered with it.`,
    permission: 'devices.write',
    status: 201,
    otherStatus: 200,
    body: z.strictObject({
      token: z
        .string({ error: 'token must be a string.' })
        .max(4_096, { error: `token must be ${FORM}.` })
        .describe(`${FORM}.`),
      platform: z.enum(PLATFORMS, { error: `platform must be one of ${PLATFORMS.join(', ')}.` }),
    }),
    response: PushDevice,
    refusals: [409],
  },
  listPushDevices: {
    method: 'GET',
    path: '/api/notifications/devices',
    tag: 'Notifications',
    summary: "The caller's devices in this organisation, newest first",
    permission: 'devices.read',
    query: z.strictObject(pageQuery(25)),
    response: pageSchema(PushDevice),
  },
  readPushDevice: {
    method: 'GET',
    path: '/api/notifications/devices/:deviceId',
    tag: 'Notifications',
    summary: "One of the caller's devices",
    permission: 'devices.read',
    params: deviceParams,
    response: PushDevice,
    refusals: [404],
  },
  deletePushDevice: {
    method: 'DELETE',
    path: '/api/notifications/devices/:deviceId',
    tag: 'Notifications',
    summary: 'Remove a device',
    description: 'It receives nothing any more, also nothing that is on its way.',
    permission: 'devices.write',
    status: 204,
    params: deviceParams,
    refusals: [404],
  },
  testPushDevice: {
    method: 'POST',
    path: '/api/notifications/devices/:deviceId/test',
    tag: 'Notifications',
    summary: 'Send a test to a device',
    description: 'Sent once and immediately, whatever the preferences; answers what the provider said.',
    permission: 'devices.write',
    params: deviceParams,
    response: TestPushResult,
    refusals: [404],
  },
})
