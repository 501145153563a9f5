import { z } from 'zod'
import { UNREADABLE } from '../../events/protocol/event.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

const MissingSymbol = z.object({
  kind: z.enum(['source_map', 'mapping', 'debug_file']),
  name: z.string().describe('The code that is not readable, such as a script or an image of native code.'),
  debug_id: z.string().nullable(),
  reason: z.enum(UNREADABLE),
  release: z.string().nullable(),
  events: z.number().int().describe('Events, of those that were looked at.'),
  issues: z.number().int(),
  issue_ids: z.array(Id).describe('At most 5, those with the newest events first.'),
  command: z.string().describe('What uploads the file, for a machine that has it.'),
})
export type MissingSymbol = z.infer<typeof MissingSymbol>

export const MissingSymbols = z.object({
  items: z
    .array(MissingSymbol)
    .describe('Those that make the most events unreadable first; at most 50, so there is no total.'),
  used: z
    .array(z.object({ file_id: Id, events: z.number().int().describe('Events, of those that were looked at.') }))
    .describe('Files that the events were read with.'),
  looked_at: z.number().int().describe('The newest events of the last 7 days, at most 200.'),
  unreadable: z.number().int().describe('Events with at least one such frame.'),
  oldest_at: Timestamp.nullable(),
})
z.globalRegistry.add(MissingSymbols, { id: 'MissingSymbols' })
export type MissingSymbols = z.infer<typeof MissingSymbols>

export const missingSymbolRoutes = routes({
  readMissingSymbols: {
    method: 'GET',
    path: '/api/projects/:projectId/missing-symbols',
    tag: 'Symbols',
    summary: 'Files that would make the newest events readable',
    description:
      'Looks at the newest events of the last 7 days, at most 200. Of one release, at the newest event of each group of its issues, at most 50. Libraries of the system are not listed.',
    permission: 'uploads.read',
    params: z.object({ projectId: Id }),
    query: z.strictObject({
      release: z.string().min(1).max(250).optional().describe('Only this release, by its version.'),
    }),
    response: MissingSymbols,
    refusals: [404],
  },
})
