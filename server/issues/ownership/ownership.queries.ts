import type { Connection } from '../../platform/storage/database.ts'

/** Returns issues of a project with their assignees, last seen first. */
export const newestIssues = (on: Connection, projectId: string, max: number) =>
  on
    .selectFrom('issues as i')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'i.assignee_id').onRef('m.org_id', '=', 'i.org_id').on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .select(['i.id', 'i.number', 'i.title', 'i.culprit', 'i.assignee_id', 'u.name', 'u.email'])
    .where('i.project_id', '=', projectId)
    .where('i.merged_into', 'is', null)
    .orderBy('i.seen_slot', 'desc')
    .limit(max)
    .execute()
