import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PROJECT_PLATFORMS, platformName } from '#shared/platforms.ts'
import { call } from '../../../api/call.ts'
import { errorSentence, useChange } from '../../../api/change.ts'
import { importQuery, importsQuery, type Import } from '../../../api/import-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { InputBox } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Note } from '../../../ui/note.tsx'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { ColumnHead, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { importTexts } from './texts.ts'
import styles from './imports.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = importTexts.mapping
type Mapping = Import['mapping'][number]

/** Chooses what becomes of each project, and starts. */
export function MappingForm({ one }: { one: Import }) {
  const projects = useQuery({ ...projectsQuery, meta: { quiet: true } })
  const [mapping, setMapping] = useState(one.mapping)
  const start = useChange({
    send: () =>
      call('PATCH /api/org/imports/:importId', {
        params: { importId: one.id },
        body: {
          state: 'running',
          mapping: mapping.map(({ source_id, taken, project_id, slug, platform, keeps_keys }) => ({
            source_id,
            taken,
            project_id,
            slug,
            platform,
            keeps_keys,
          })),
        },
      }),
    same: () => 'start',
    touches: () => [importsQuery.queryKey],
    settle: (client, answer) => client.setQueryData(importQuery(one.id).queryKey, answer),
    failed: null,
  })
  const set = (sourceId: string, change: Partial<Mapping>) => {
    setMapping(mapping.map((project) => (project.source_id === sourceId ? { ...project, ...change } : project)))
    start.reset()
  }
  return (
    <Card title={texts.title}>
      <Table scrollLabel={texts.table}>
        <thead>
          <tr>
            <ColumnHead>{texts.columns.take}</ColumnHead>
            <ColumnHead>{texts.columns.there}</ColumnHead>
            <ColumnHead>{texts.columns.here}</ColumnHead>
            <ColumnHead>{texts.columns.platform}</ColumnHead>
            <ColumnHead>{texts.columns.key}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {mapping.map((project) => {
            const { source_id: id, source_slug: there } = project
            return (
              <tr key={id} data-off={project.taken ? undefined : ''}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={texts.take(there)}
                    checked={project.taken}
                    onChange={(event) => set(id, { taken: event.target.checked })}
                  />
                </td>
                <th scope="row" className={fitStyles.nowrap}>
                  <span className={typeStyles.mono}>{there}</span>
                </th>
                <td>
                  <InputBox>
                    <select
                      aria-label={texts.here(there)}
                      value={project.project_id ?? ''}
                      disabled={!project.taken}
                      onChange={(event) =>
                        set(id, { project_id: event.target.value === '' ? null : event.target.value })
                      }
                    >
                      <option value="">{texts.newProject(project.slug)}</option>
                      {(projects.data?.items ?? []).map((own) => (
                        <option key={own.id} value={own.id}>
                          {own.slug}
                        </option>
                      ))}
                    </select>
                  </InputBox>
                </td>
                <td>
                  <InputBox>
                    <select
                      aria-label={texts.platform(there)}
                      value={project.platform}
                      disabled={!project.taken || project.project_id !== null}
                      onChange={(event) =>
                        set(id, {
                          platform: PROJECT_PLATFORMS.find((known) => known === event.target.value) ?? project.platform,
                        })
                      }
                    >
                      {PROJECT_PLATFORMS.map((platform) => (
                        <option key={platform} value={platform}>
                          {platformName(platform)}
                        </option>
                      ))}
                    </select>
                  </InputBox>
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={texts.keep(there)}
                    checked={project.keeps_keys}
                    disabled={!project.taken}
                    onChange={(event) => set(id, { keeps_keys: event.target.checked })}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </Table>
      {start.error === null ? null : (
        <Note tone="red" icon="warn" role="alert">
          {errorSentence(start.error)}
        </Note>
      )}
      <CardFooter note={texts.foot(mapping.filter(({ taken }) => taken).length, null)}>
        <Button look="primary" busy={start.isPending} onClick={() => start.mutate(undefined)}>
          {importTexts.page.start}
        </Button>
      </CardFooter>
    </Card>
  )
}

/** The mapping of an import that has started. */
export function MappingCard({ one }: { one: Import }) {
  const projects = useQuery({ ...projectsQuery, meta: { quiet: true } })
  const slugs = new Map(projects.data?.items.map(({ id, slug }) => [id, slug]))
  const taken = one.mapping.filter((project) => project.taken).length
  return (
    <Card title={texts.title} header={<Minor>{texts.fixed}</Minor>}>
      <Table>
        <thead>
          <tr>
            <ColumnHead>{texts.columns.there}</ColumnHead>
            <ColumnHead>{texts.columns.here}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {one.mapping.map((project) => (
            <tr key={project.source_id} data-off={project.taken ? undefined : ''}>
              <th scope="row">
                <span className={typeStyles.mono}>{project.source_slug}</span>
                <Minor as="small" className={fitStyles.block}>
                  {project.taken ? (project.keeps_keys ? texts.keeps : texts.newKey) : texts.leftOut}
                </Minor>
              </th>
              <td>
                {project.taken ? (
                  <span className={styles.here}>
                    <PlatformTile platform={project.platform} quiet />
                    {slugs.get(project.project_id ?? '') ?? project.slug}
                  </span>
                ) : (
                  <Minor>{texts.leftOut}</Minor>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      <CardFooter note={texts.foot(taken, one.counts.issues.total)} />
    </Card>
  )
}
