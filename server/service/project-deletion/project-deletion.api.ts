import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

export const Operation = z.object({
  id: Id,
  kind: z.enum(['project.delete']),
  state: z.enum(['running', 'done']),
  target: z.object({ type: z.enum(['project']), id: Id, name: z.string() }),
  progress: z.object({
    parts: z.number().int().describe('Kinds of data, such as events and releases.'),
    parts_done: z.number().int(),
    rows_deleted: z.number().int(),
  }),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type Operation = z.infer<typeof Operation>

export const projectDeletionRoutes = routes({
  deleteProject: {
    method: 'DELETE',
    path: '/api/projects/:projectId',
    tag: 'Projects',
    summary: 'Delete a project with everything that belongs to it',
    description:
      'The project is gone from every list and its DSN is refused at once. Its data is deleted in the background: follow the operation. Cannot be undone.',
    permission: 'projects.delete',
    status: 202,
    params: z.object({ projectId: Id }),
    body: z.strictObject({
      confirm: z
        .string({ error: 'confirm must be the slug of the project.' })
        .max(100)
        .describe('The slug of the project.'),
    }),
    response: Operation,
    refusals: [404],
  },
  followOperation: {
    method: 'GET',
    path: '/api/operations/:operationId',
    tag: 'Projects',
    summary: 'Progress of a deletion',
    description: 'Kept for 30 days after its end.',
    permission: 'projects.read',
    params: z.object({ operationId: Id }),
    response: Operation,
    refusals: [404],
  },
})
