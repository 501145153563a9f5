import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Organisation, OrgName } from '../auth/auth.api.ts'

export const organisationRoutes = routes({
  updateOrganisation: {
    method: 'PATCH',
    path: '/api/org',
    tag: 'Team',
    summary: 'Change the name of the organisation',
    description: 'Shown in the dashboard and in mails from then on. The slug stays, so log-in links keep working.',
    permission: 'team.write',
    body: z.strictObject({ name: OrgName }),
    response: Organisation,
  },
})
