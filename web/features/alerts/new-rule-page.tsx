import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { alertRuleQuery } from '../../api/alert-queries.ts'
import { projectsQuery } from '../../api/queries.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { bothQueries, PageQuery } from '../../frames/page-query.tsx'
import { Note } from '../../ui/note.tsx'
import { BuilderColumns } from './builder-columns.tsx'
import { Builder } from './builder.tsx'
import { builderTexts } from './builder-texts.ts'
import { copyRule, newDraft } from './rule-draft.ts'
import { alertsTexts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/alerts/rules/new')

/** The builder of a new rule: empty, filled by the page that leads here, or a copy. */
export function NewRulePage() {
  usePageTitle(alertsTexts.titles.newRule)
  const search = route.useSearch()
  const projects = useQuery(projectsQuery)
  const from = useQuery({ ...alertRuleQuery(search.from ?? ''), enabled: search.from !== undefined })
  const loading = search.from === undefined ? projects : bothQueries(projects, from)
  const [only, ...others] = projects.data?.items ?? []
  const projectId = search.project ?? (others.length === 0 ? only?.id : undefined) ?? ''
  return (
    <BuilderColumns>
      <PageQuery<unknown> query={loading} what={builderTexts.what} heightPx={640}>
        {() =>
          from.data !== undefined ? (
            <Builder
              key={from.data.id}
              rule={null}
              initial={copyRule(from.data, builderTexts.copyName(from.data.name))}
              note={
                <Note tone="blue" icon="info">
                  {builderTexts.cloneNote}
                </Note>
              }
            />
          ) : (
            <Builder key={JSON.stringify(search)} rule={null} initial={newDraft(projectId, search)} />
          )
        }
      </PageQuery>
    </BuilderColumns>
  )
}
