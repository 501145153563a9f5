import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { alertRuleQuery } from '../../api/alert-queries.ts'
import { paths } from '../../address/paths.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { PageQuery } from '../../frames/page-query.tsx'
import { buttonLook } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { BuilderColumns } from './builder-columns.tsx'
import { Builder } from './builder.tsx'
import { builderTexts } from './builder-texts.ts'
import { toRuleDraft } from './rule-draft.ts'

const route = getRouteApi('/signed-in/shell/alerts/rules/$ruleId')

/** One rule, in the builder. */
export function RulePage() {
  const { ruleId } = route.useParams()
  const rule = useQuery(alertRuleQuery(ruleId))
  usePageTitle(rule.data?.name ?? null)
  return (
    <BuilderColumns>
      <PageQuery
        query={rule}
        what={builderTexts.what}
        heightPx={640}
        missing={
          <EmptyState
            kind="missing"
            heading="h2"
            title={builderTexts.gone}
            actions={
              <Link {...buttonLook()} {...paths.alertRules()}>
                {builderTexts.toRules}
              </Link>
            }
          >
            {builderTexts.goneText}
          </EmptyState>
        }
      >
        {(data) => <Builder key={ruleId} rule={data} initial={toRuleDraft(data)} />}
      </PageQuery>
    </BuilderColumns>
  )
}
