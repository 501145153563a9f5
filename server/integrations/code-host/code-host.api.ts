import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** The connection of a project to the repository of its code. */

export const PROVIDERS = ['github', 'gitlab'] as const
export type Provider = (typeof PROVIDERS)[number]

export const MAX_DELIVERY_BYTES = 25 * 1024 * 1024
const MAX_ROOTS = 20

const root = (name: string) =>
  z
    .string({ error: `${name} must be a string.` })
    .trim()
    .max(300, { error: `${name} takes at most 300 characters.` })
    .regex(/^[^\p{C}\\]*$/u, { error: `${name} must be a path with / between folders.` })

export const SourceRoot = z.strictObject({
  stack_root: root('stack_root').describe('How paths of frames begin, such as `com/meadowlark/` or `app:///`.'),
  source_root: root('source_root')
    .transform((path) => path.replace(/^\/+/, ''))
    .describe('How the same paths begin in the repository. May be empty.'),
})
export type SourceRoot = z.output<typeof SourceRoot>

const StoredRoot = z.object({
  stack_root: z.string(),
  source_root: z.string(),
  by: z.enum(['found', 'member']).describe('found: by trial against the known files. member: typed by hand.'),
  matched: z.number().int().describe('Files of frames that it led to.'),
  tried: z.number().int().describe('Files of frames that were tried.'),
})
export type StoredRoot = z.infer<typeof StoredRoot>
export const StoredRoots = z.array(StoredRoot)

export const HOST_STATES = ['works', 'slowed_down', 'broken', 'not_connected'] as const

const Problem = z.object({ text: z.string().describe('As the code host said it.'), at: Timestamp })

export const CodeHost = z.object({
  state: z
    .enum(HOST_STATES)
    .describe(
      'broken: the token is refused, and a member must enter another. slowed_down: it limits requests or does not answer, and Faultline tries again.',
    ),
  provider: z.enum(PROVIDERS).nullable(),
  repository_url: z.string().nullable(),
  webhook_url: z.string().describe('Where the code host must send push, pull request and release events, as JSON.'),
  default_branch: z.string().nullable(),
  has_token: z.boolean(),
  connected_at: Timestamp.nullable(),
  secret_created_at: Timestamp.nullable(),
  last_received: z.object({ event: z.string(), summary: z.string().nullable(), at: Timestamp }).nullable(),
  last_refused_at: Timestamp.nullable().describe(
    'When a delivery with a wrong signature came last; null when none came since the connection was made.',
  ),
  last_sent: z.object({ text: z.string(), at: Timestamp }).nullable(),
  last_error: Problem.nullable(),
  broken_since: Timestamp.nullable(),
  slowed_until: Timestamp.nullable(),
  commit_count: z.number().int().describe('Commits that are known, at most 20,000.'),
  file_count: z.number().int().describe('Files of the default branch that are known, at most 100,000.'),
  source_roots: StoredRoots,
  owners: z
    .object({
      is_read: z.boolean().describe('Whether CODEOWNERS is read. It needs a token.'),
      path: z.string().nullable().describe('Null without a file.'),
      rules: z.number().int(),
      unknown: z.array(z.string()).describe('Owners who are no members. Their lines are left out.'),
      read_at: Timestamp.nullable(),
    })
    .describe('Ownership rules from the repository. Rules of the project come after them, and decide.'),
  deliveries: z
    .array(
      z.object({
        id: z.string(),
        event: z.string(),
        state: z.enum(['waiting', 'done', 'failed']),
        summary: z.string().nullable(),
        at: Timestamp,
      }),
    )
    .describe('The newest 5 of the last 3 days.'),
})
z.globalRegistry.add(CodeHost, { id: 'CodeHost' })
export type CodeHost = z.infer<typeof CodeHost>

const Token = z
  .string({ error: 'access_token must be a string.' })
  .trim()
  .regex(/^[\x21-\x7e]{8,400}$/, { error: 'access_token must be 8 to 400 characters without spaces.' })

const params = z.object({ projectId: Id })

export const codeHostRoutes = routes({
  readCodeHost: {
    method: 'GET',
    path: '/api/projects/:projectId/integrations/codehost',
    tag: 'Integrations',
    summary: 'The code host of a project and its state',
    description: 'Never the webhook secret and never the token. Without a connection the state is not_connected.',
    permission: 'integrations.read',
    params,
    response: CodeHost,
    refusals: [404],
  },
  connectCodeHost: {
    method: 'POST',
    path: '/api/projects/:projectId/integrations/codehost',
    tag: 'Integrations',
    summary: 'Connect the repository of a project',
    description:
      'Answers a new webhook secret each time; the one before stops working at once. Another repository starts from the start: what was known of the one before is removed. An access token is tried before it is stored; without one, the token of the same repository stays.',
    permission: 'integrations.write',
    params,
    body: z.strictObject({
      repository_url: z
        .string({
          error: 'repository_url must be the address of the repository, such as https://github.com/acme/shop.',
        })
        .max(500, { error: 'repository_url takes at most 500 characters.' })
        .describe('As a browser shows it.'),
      provider: z
        .enum(PROVIDERS, { error: 'provider must be github or gitlab.' })
        .optional()
        .describe('Needed for a self-managed server.'),
      access_token: Token.optional().describe(
        'Reads the repository: files that a push lacks, lines, CODEOWNERS. It needs to read contents only.',
      ),
    }),
    response: z.object({
      repository_url: z.string(),
      webhook_secret: z.string().describe('Shown this once.'),
      webhook_url: z.string(),
      provider: z.enum(PROVIDERS),
    }),
    refusals: [404],
  },
  changeCodeHost: {
    method: 'PATCH',
    path: '/api/projects/:projectId/integrations/codehost',
    tag: 'Integrations',
    summary: 'Change the token, the source roots or the reading of CODEOWNERS',
    description: 'Absent fields keep their value. A token is tried before it is stored; null removes it.',
    permission: 'integrations.write',
    params,
    body: z
      .strictObject({
        access_token: Token.nullable().optional(),
        source_roots: z
          .array(SourceRoot)
          .max(MAX_ROOTS, { error: `source_roots takes at most ${MAX_ROOTS} entries.` })
          .optional()
          .describe('Typed by hand; they come before those that were found. The list replaces the typed ones.'),
        reads_owners: z.boolean({ error: 'reads_owners must be true or false.' }).optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of access_token, source_roots, reads_owners.',
      }),
    response: CodeHost,
    refusals: [404],
  },
  disconnectCodeHost: {
    method: 'DELETE',
    path: '/api/projects/:projectId/integrations/codehost',
    tag: 'Integrations',
    summary: 'Disconnect the code host',
    description:
      'Removes secret, token and what was read of the repository. Commits of releases and links of issues stay.',
    permission: 'integrations.write',
    status: 204,
    params,
    refusals: [404],
  },
  takeCodeHostDelivery: {
    method: 'POST',
    path: '/api/integrations/codehost/webhook',
    tag: 'Integrations',
    summary: 'Take a delivery of a code host',
    description:
      'Called by the code host. X-Hub-Signature-256 is sha256=<hex> of the HMAC-SHA256 of the body with the webhook secret; GitLab may send the secret in X-Gitlab-Token, or sign with webhook-id, webhook-timestamp and webhook-signature. At most 25 MiB. Every failed check is the same 401. A delivery is taken once in 3 days; work on it follows after the answer.',
    permission: 'public',
    query: z.strictObject({ project: z.string().max(100).optional().describe('The id of the project.') }),
    rawBody: true,
    upload: { maxBytes: MAX_DELIVERY_BYTES },
    response: z.object({
      result: z.enum(['accepted', 'known', 'pong', 'ignored']).describe('known: this delivery came before.'),
    }),
    refusals: [401],
  },
})
