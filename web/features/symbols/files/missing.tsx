import { useQuery } from '@tanstack/react-query'
import { missingSymbolsQuery, type MissingSymbols } from '../../../api/symbol-queries.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { CommandBox } from '../../../ui/command-box.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Note } from '../../../ui/note.tsx'
import { Spacer, Stack } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { symbolsTexts } from './texts.ts'
import styles from './symbols-page.module.css'

const texts = symbolsTexts.missing

/** The worklist: files that would make the newest events readable. */
export function Missing({ projectId }: { projectId: string }) {
  const missing = useQuery(missingSymbolsQuery(projectId))
  return (
    <PageQuery query={missing} what={texts.title} heightPx={120}>
      {(data) => <Worklist data={data} />}
    </PageQuery>
  )
}

function Worklist({ data }: { data: MissingSymbols }) {
  if (data.items.length === 0)
    return (
      <Note tone="green" icon="check" role="status">
        {data.looked_at === 0 ? texts.noEvents : texts.none}
      </Note>
    )
  return (
    <Card
      title={
        <>
          <Icon name="warn" className={typeStyles.amber} /> {texts.title}
        </>
      }
      header={<Minor>{texts.figures(data.unreadable, data.looked_at)}</Minor>}
    >
      {data.items.map((item, index) => (
        <Row key={`${item.kind} ${item.debug_id ?? item.name} ${item.release ?? ''}`} item={item} open={index === 0} />
      ))}
    </Card>
  )
}

function Row({ item, open }: { item: MissingSymbols['items'][number]; open: boolean }) {
  return (
    <details className={classNames(styles.row, choiceStyles.rowSummary)} open={open}>
      <summary>
        <DisclosureIcon />
        <b className={fitStyles.breaks}>{item.release ?? texts.noRelease}</b>
        <span className={fitStyles.breaks}>{texts.kinds[item.kind](item.name)}</span>
        <Spacer />
        <span>{texts.events(formatCount(item.events))}</span>
        <Minor>{texts.issues(formatCount(item.issues))}</Minor>
      </summary>
      <Stack className={styles.inside}>
        <CommandBox
          title={texts.run}
          code={item.command}
          shown={item.debug_id === null ? item.command : `# ${item.debug_id}\n${item.command}`}
          said={symbolsTexts.copied}
        />
        <Minor>{item.reason === 'broken_file' ? texts.broken : texts.after}</Minor>
      </Stack>
    </details>
  )
}
