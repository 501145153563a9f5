import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { projectSettingsQuery, type ProjectSettings } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { Note } from '../../../ui/note.tsx'
import { settingsTexts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings')

type ProjectPartProps = {
  title: string
  lead: string
  /** The name of the data in errors. */
  what?: string
  heightPx: number
  actions?: ReactNode
  /** @param why the user may not change the settings */
  children: (project: ProjectSettings, why: string | undefined) => ReactNode
}

/** A page of a project's settings: head, a note for members who cannot change it, and the states of its data. */
export function ProjectPart({ title, lead, what = title, heightPx, actions, children }: ProjectPartProps) {
  const { projectId } = route.useParams()
  const project = useQuery(projectSettingsQuery(projectId))
  const may = useCan('projects.write')
  return (
    <>
      <SettingsHead title={title} of={project.data?.name ?? null} lead={lead} actions={actions} />
      {may.allowed ? null : (
        <Note tone="blue" icon="lock">
          {settingsTexts.readOnly('admin')}
        </Note>
      )}
      <PageQuery query={project} what={what} heightPx={heightPx}>
        {(data) => children(data, may.why)}
      </PageQuery>
    </>
  )
}
