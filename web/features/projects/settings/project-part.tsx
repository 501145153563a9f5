import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ProjectSettings } from '../../../api/queries.ts'
import { Note } from '../../../ui/note.tsx'
import { settingsTexts } from './texts.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
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
      <PageQuery query={project} what={what} heightPx={heightPx}>
        {children}
      </PageQuery>
    </>
  )
}
