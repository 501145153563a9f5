import type { AssistantState } from '../../api/assistant-queries.ts'
import { CodeBox } from '../../ui/code-box.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import fitStyles from '../../ui/fit.module.css'
import { Note } from '../../ui/note.tsx'
import { assistantTexts as texts } from './texts.ts'

/** Why questions cannot become statements, and what the owner of the database can do. */
export function SetupStatements({ query: { reason, setup_sql } }: { query: AssistantState['query'] }) {
  const statements = setup_sql.join('\n')
  return (
    <div className={fitStyles.insetGrid}>
      <Note tone="amber" icon="warn">
        <b>{texts.off}</b> {reason}
      </Note>
      {statements === '' ? null : (
        <CodeBox title={texts.setup} action={<CopyButton iconOnly text={statements} said={texts.setupCopied} />}>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre tabIndex={0}>
            <code>{statements}</code>
          </pre>
        </CodeBox>
      )}
    </div>
  )
}
