import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

export const Erasure = z.object({
  state: z
    .enum(['running', 'done'])
    .describe(
      'A running erasure continues in the background. It includes data that was received before the request and is digested later.',
    ),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
  erased: z.record(z.string(), z.number().int()).describe('Numbers erased so far by kind: events, issues, feedback, …'),
})
export type Erasure = z.input<typeof Erasure>

export const privacyRoutes = routes({
  eraseUserData: {
    method: 'DELETE',
    path: '/api/projects/:projectId/users/:userId/data',
    tag: 'Projects',
    summary: "Erase everything stored of one of the app's users",
    description:
      "userId is the user's id in events: id, else user name, else e-mail address, else IP address. Deletes their events with files and feedback, their log entries and metrics, and their id in sessions; counts stay. After a few seconds, or while data is not digested yet, it continues in the background. Repeat the call to see the progress; repeating is safe.",
    permission: 'projects.write',
    params: z.object({ projectId: Id, userId: z.string().min(1).max(1_000) }),
    response: Erasure,
    refusals: [404],
  },
})
