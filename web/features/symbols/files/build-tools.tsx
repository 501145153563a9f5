import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { Project } from '../../../api/queries.ts'
import { BuildLines } from '../../../subjects/symbols/build-lines.tsx'
import { buildTexts as texts } from '../../../subjects/symbols/build-texts.ts'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { Stack } from '../../../ui/stack.tsx'
import styles from './symbols-page.module.css'

/** How a build uploads by itself. */
export const BuildTools = ({ project }: { project: Pick<Project, 'slug' | 'platform'> }) => (
  <Card title={texts.title}>
    <Stack className={styles.inside}>
      <BuildLines project={project} platform={project.platform} />
    </Stack>
    <CardFooter>
      <Link {...paths.apiKeys()}>{texts.makeKey}</Link>
    </CardFooter>
  </Card>
)
