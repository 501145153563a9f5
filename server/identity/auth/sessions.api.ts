import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { Organisation } from './auth.api.ts'
import { SignInMethod } from './sign-in-method.api.ts'

const Session = z.object({
  id: Id,
  current: z.boolean().describe('The session of this request.'),
  method: SignInMethod,
  ip: z.string().nullable().describe('Address of its newest refresh; null when unknown.'),
  user_agent: z.string().nullable(),
  device: z.object({ label: z.string().describe('Such as "Firefox on Windows".') }),
  org: Organisation,
  authenticated_at: Timestamp.describe('When the user last proved who they are.'),
  created_at: Timestamp,
  last_used_at: Timestamp.describe('When it was last refreshed, about every 15 minutes while it is in use.'),
  expires_at: Timestamp.describe('When it ends in any case; a week without use ends it earlier.'),
})

const Device = z.object({
  id: Id,
  label: z.string(),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp.describe('Newest log-in.'),
  current: z.boolean().describe('The device that the session of this request was started on.'),
})

export const sessionRoutes = routes({
  listSessions: {
    method: 'GET',
    path: '/api/auth/sessions',
    tag: 'Account',
    summary: 'Your sessions that have not ended, in all organisations',
    description: 'At most 20, the last used first.',
    permission: 'self',
    response: z.object({ items: z.array(Session) }),
  },
  endSession: {
    method: 'DELETE',
    path: '/api/auth/sessions/:sessionId',
    tag: 'Account',
    summary: 'End one of your sessions',
    description: 'Its tokens are refused within a second. Ending the session of the request logs out.',
    permission: 'self',
    status: 204,
    params: z.object({ sessionId: Id }),
    refusals: [404],
  },
  endOtherSessions: {
    method: 'POST',
    path: '/api/auth/sessions/end-others',
    tag: 'Account',
    summary: 'End all of your sessions but this one',
    permission: 'self',
    response: z.object({ ok: z.literal(true), ended: z.number().int().describe('How many sessions ended.') }),
  },
  listDevices: {
    method: 'GET',
    path: '/api/auth/devices',
    tag: 'Account',
    summary: 'Devices that you logged in with',
    description: 'At most 100, the last used first. A log-in from any other device sends you a mail.',
    permission: 'self',
    response: z.object({ items: z.array(Device) }),
  },
  forgetDevice: {
    method: 'DELETE',
    path: '/api/auth/devices/:deviceId',
    tag: 'Account',
    summary: 'Forget a device',
    description: 'The next log-in from it counts as one from a new device. Its sessions stay.',
    permission: 'self',
    status: 204,
    params: z.object({ deviceId: Id }),
    refusals: [404],
  },
})
