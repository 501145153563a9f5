import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ProjectSettings } from '../../../api/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Note } from '../../../ui/note.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { settingsTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'

/** A page of a project's settings: head, a note for members who cannot change it, and the states of its data. */
export function ProjectPart({
  title,
  lead,
  what = title,
  heightPx,
  mayChange,
  project,
  children,
}: {
  title: string
  lead: string
  /** The name of the data in errors. */
  what?: string
  heightPx: number
  mayChange: boolean
  project: UseQueryResult<ProjectSettings>
  children: (project: ProjectSettings) => ReactNode
}) {
  return (
    <>
      <SettingsHead title={title} of={project.data?.name ?? null} lead={lead} />
      {mayChange ? null : (
        <Note tone="blue" icon="lock">
          {settingsTexts.readOnly('admin')}
        </Note>
      )}
      {project.data === undefined ? (
        project.error === null ? (
          <Skeleton heightPx={heightPx} label={appTexts.loading} />
        ) : (
          <Card>
            <QueryError what={what} error={project.error} onRetry={() => void project.refetch()} />
          </Card>
        )
      ) : (
        children(project.data)
      )}
    </>
  )
}
