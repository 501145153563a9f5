import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { alertRulesQuery } from '../../../api/alert-queries.ts'
import type { Monitor } from '../../../api/monitor-queries.ts'
import { useCan } from '../../../app/can.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { monitorsTexts as texts } from './texts.ts'
import styles from './side-cards.module.css'

/** The rules that watch the monitor, and the way to a new one. */
export function RuleCard({ monitor }: { monitor: Monitor }) {
  const { project_id: project, slug } = monitor
  const may = useCan('alerts.write')
  const rules = useInfiniteQuery(alertRulesQuery(project))
  return (
    <Card title={texts.rule}>
      <div className={styles.body}>
        <PageQuery query={rules} what={texts.rule} heightPx={40} inCard>
          {({ pages }) => {
            const own = pages
              .flatMap(({ items }) => items)
              .filter(
                ({ trigger_type: trigger, conditions }) =>
                  trigger === 'monitor' && (conditions.monitor === undefined || conditions.monitor === slug),
              )
            return own.length === 0 ? (
              <p>{texts.ruleNone}</p>
            ) : (
              <>
                <p>{texts.ruleWatches}</p>
                <ul className={classNames(typeStyles.tallLinks, typeStyles.accentLinks)}>
                  {own.map((rule) => (
                    <li key={rule.id}>
                      <Link {...paths.alertRule(rule.id, { project })}>{rule.name}</Link>
                      {rule.enabled ? null : <Minor> {texts.ruleOff}</Minor>}
                    </li>
                  ))}
                </ul>
              </>
            )
          }}
        </PageQuery>
        <div>
          {may.allowed ? (
            <Link
              {...paths.newAlertRule({ project, trigger: 'monitor', monitor: slug })}
              {...buttonLook({ size: 'sm', className: fitStyles.fixed })}
            >
              <span>{texts.newRule}</span>
            </Link>
          ) : (
            <Button size="sm" why={may.why}>
              {texts.newRule}
            </Button>
          )}
        </div>
      </div>
    </Card>
  )
}
