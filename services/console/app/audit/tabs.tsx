import { PageTabs } from '../parts/page-tabs.tsx'

/** Leads from the entries of the audit log to their proofs and back. */
export const AuditTabs = () => <PageTabs label="Audit" pages={PAGES} />

const PAGES = [
  { to: '/audit', text: 'Entries' },
  { to: '/audit/proofs', text: 'Proofs' },
] as const
