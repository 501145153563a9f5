import { z } from 'zod'
import { csvTable, formatQuery } from '../../platform/kernel/csv.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, offsetQuery, pageSchema, Timestamp } from '../../platform/kernel/page.api.ts'
import { Platform, ProjectSlug } from '../../projects/registry/projects.api.ts'

/** Imports from Sentry, and services with its web API. */

export const IMPORT_STATES = ['mapping', 'running', 'paused', 'stopped', 'done'] as const
export type ImportState = (typeof IMPORT_STATES)[number]

/** In the order in which they are imported. */
export const IMPORT_KINDS = ['projects', 'members', 'releases', 'rules', 'issues', 'comments', 'events'] as const
export type ImportKind = (typeof IMPORT_KINDS)[number]

export const ProjectMapping = z.object({
  source_id: z.string(),
  source_slug: z.string(),
  name: z.string(),
  source_platform: z.string().nullable(),
  taken: z.boolean().describe('False leaves the project out.'),
  project_id: Id.nullable().describe('An existing project; null creates one.'),
  slug: z.string().describe('Of the new project.'),
  platform: Platform,
  keeps_keys: z
    .boolean()
    .describe('Takes over the DSN keys, so that apps keep their DSN when the host name leads here.'),
})
export type ProjectMapping = z.infer<typeof ProjectMapping>

const Count = z.object({
  done: z.number().int(),
  total: z.number().int().nullable().describe('Null while it is not known.'),
})

export const Counts = z.record(z.enum(IMPORT_KINDS), Count)
export type Counts = z.infer<typeof Counts>

export const Import = z.object({
  id: Id,
  source_url: z.string(),
  source_org: z.string(),
  state: z.enum(IMPORT_STATES),
  problem: z.string().nullable().describe('Why it waits, and what to do; null when nothing keeps it.'),
  mapping: z.array(ProjectMapping),
  counts: Counts,
  now: z.string().nullable().describe('What is read at the moment; null unless it runs.'),
  differences: z.number().int().describe('Things that are not here as they were there.'),
  created_by: z.object({ id: Id, name: z.string() }).nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
})
export type Import = z.infer<typeof Import>

export const Difference = z.object({
  kind: z.string(),
  count: z.number().int(),
  reason: z.string(),
  instead: z.string(),
  examples: z.array(z.string()).describe('At most five.'),
})
export type Difference = z.infer<typeof Difference>

const Differences = z.object({ items: z.array(Difference) })
const differencesTable = csvTable(
  'import-report',
  Differences,
  ({ items }) => items.map(({ examples, ...item }) => ({ ...item, examples: examples.join('; ') })),
  ['kind', 'count', 'reason', 'instead', 'examples'],
)

const params = z.object({ importId: Id })
const URL_RULE = 'url must be the address of the service, such as https://sentry.example.com.'
const TOKEN_RULE = 'token must be 1 to 500 visible characters.'

export const importRoutes = routes({
  listImports: {
    method: 'GET',
    path: '/api/org/imports',
    tag: 'Import',
    summary: 'Imports of the organisation, newest first',
    permission: 'imports.manage',
    query: z.strictObject(offsetQuery()),
    response: pageSchema(Import),
  },
  createImport: {
    method: 'POST',
    path: '/api/org/imports',
    tag: 'Import',
    summary: 'Connect a source, and read its projects',
    description:
      'The token is tried first, and stored sealed. Nothing is imported before the mapping is confirmed with PATCH. A source is imported once at a time.',
    permission: 'imports.manage',
    status: 201,
    isSlow: true,
    body: z.strictObject({
      url: z.url({ protocol: /^https?$/, error: URL_RULE }).max(500, { error: URL_RULE }),
      organisation: z
        .string({ error: 'organisation must be the slug of the organisation there.' })
        .regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'organisation must be the slug of the organisation there.' }),
      token: z.string({ error: TOKEN_RULE }).regex(/^[\x21-\x7e]{1,500}$/, { error: TOKEN_RULE }),
    }),
    response: Import,
    refusals: [409],
  },
  readImport: {
    method: 'GET',
    path: '/api/org/imports/:importId',
    tag: 'Import',
    summary: 'An import, and how far it is',
    permission: 'imports.manage',
    params,
    response: Import,
    refusals: [404],
  },
  changeImport: {
    method: 'PATCH',
    path: '/api/org/imports/:importId',
    tag: 'Import',
    summary: 'Change the mapping; start, pause, continue or stop',
    description:
      'The mapping can change until the import starts. A stopped import keeps what came, and a new import of the source continues there. A new token can be given while it is paused.',
    permission: 'imports.manage',
    params,
    body: z.strictObject({
      state: z
        .enum(['running', 'paused', 'stopped'], { error: 'state must be running, paused or stopped.' })
        .optional(),
      token: z
        .string({ error: TOKEN_RULE })
        .regex(/^[\x21-\x7e]{1,500}$/, { error: TOKEN_RULE })
        .optional(),
      mapping: z
        .array(
          z.strictObject({
            source_id: z.string(),
            taken: z.boolean(),
            project_id: Id.nullable(),
            slug: ProjectSlug,
            platform: Platform,
            keeps_keys: z.boolean(),
          }),
          { error: 'mapping must be a list of the projects of the source.' },
        )
        .max(1_000)
        .optional(),
    }),
    response: Import,
    refusals: [404, 409],
  },
  listImportDifferences: {
    method: 'GET',
    path: '/api/org/imports/:importId/differences',
    tag: 'Import',
    summary: 'What did not map, why, and what happened instead',
    permission: 'imports.manage',
    params,
    query: z.strictObject(formatQuery),
    response: Differences,
    csv: differencesTable,
    refusals: [404],
  },
})
