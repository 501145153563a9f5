import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ApiError } from '../../api/call.ts'
import { alertRuleQuery } from '../../api/alert-queries.ts'
import { paths } from '../../address/paths.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { QueryError } from '../../frames/query-error.tsx'
import { appTexts } from '../../app/texts.ts'
import { buttonLook } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
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
      {rule.data !== undefined ? (
        <Builder key={ruleId} rule={rule.data} initial={toRuleDraft(rule.data)} />
      ) : rule.error === null ? (
        <Skeleton heightPx={640} label={appTexts.loading} />
      ) : (
        <Card>
          {rule.error instanceof ApiError && (rule.error.status === 404 || rule.error.status === 400) ? (
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
          ) : (
            <QueryError what={builderTexts.what} error={rule.error} onRetry={() => void rule.refetch()} />
          )}
        </Card>
      )}
    </BuilderColumns>
  )
}
