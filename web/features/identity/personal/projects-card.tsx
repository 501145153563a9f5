import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { preferencesQuery, type NotificationPreferences } from '../../../api/notification-queries.ts'
import { projectsQuery, type Project } from '../../../api/queries.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingRow } from '../../../frames/setting-row.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { notificationsTexts } from './notifications-texts.ts'

const texts = notificationsTexts.projects
/** Projects that are listed before the rest is asked for. */
const MAX_LISTED = 8

type Channels = NotificationPreferences['channels']

/** Channels of single projects; absent without any project. */
export function ProjectsCard({ preferences }: { preferences: NotificationPreferences }) {
  const projects = useQuery(projectsQuery)
  const [all, setAll] = useState(false)
  return (
    <PageQuery query={projects} what={texts.what} title={texts.title} waiting={null}>
      {({ items }) =>
        items.length === 0 ? null : (
          <Card title={texts.title} header={<Minor>{texts.lead}</Minor>}>
            <ul>
              {items.slice(0, all ? items.length : MAX_LISTED).map((project) => (
                <ProjectRow key={project.id} project={project} preferences={preferences} />
              ))}
            </ul>
            {all || items.length <= MAX_LISTED ? null : (
              <CardFooter>
                <Button size="sm" onClick={() => setAll(true)}>
                  {texts.all(formatCount(items.length))}
                </Button>
              </CardFooter>
            )}
          </Card>
        )
      }
    </PageQuery>
  )
}

/** Applied immediately. */
function ProjectRow({ project, preferences }: { project: Project; preferences: NotificationPreferences }) {
  const stored = preferences.projects.find(({ project_id }) => project_id === project.id)?.channels
  const own: Channels = stored ?? { email: true, push: true }
  const change = useChange({
    send: (changed: Partial<Channels>) =>
      call('PATCH /api/me/notifications/projects/:projectId', { params: { projectId: project.id }, body: changed }),
    touches: () => [preferencesQuery.queryKey],
    guess: (client, changed) =>
      client.setQueryData(preferencesQuery.queryKey, (before) =>
        before === undefined
          ? before
          : {
              ...before,
              projects: [
                ...before.projects.filter(({ project_id }) => project_id !== project.id),
                { project_id: project.id, channels: { ...own, ...changed } },
              ],
            },
      ),
    failed: notificationsTexts.notSaved,
  })
  const toggle = (channel: keyof Channels, label: string, name: string) => (
    <>
      <Minor>{name}</Minor>
      <Switch
        label={label}
        checked={own[channel] && preferences.channels[channel]}
        why={preferences.channels[channel] ? undefined : texts.offForAll}
        onChange={(on) => change.mutate({ [channel]: on })}
      />
    </>
  )
  return (
    <SettingRow
      start={<PlatformTile platform={project.platform} />}
      title={project.name}
      more={own.email || own.push ? undefined : texts.muted}
    >
      {toggle('email', texts.email(project.name), texts.emailOf)}
      {toggle('push', texts.push(project.name), texts.pushOf)}
    </SettingRow>
  )
}
