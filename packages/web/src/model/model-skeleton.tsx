export function ModelSkeleton() {
  return (
    <div className="page pt-12" aria-busy="true">
      <div className="mt-4 flex gap-6">
        <div className="skeleton size-20 shrink-0 rounded-2xl sm:size-28" />
        <div className="grid min-w-0 flex-1 content-start gap-3">
          <div className="skeleton h-9 w-72 max-w-full" />
          <div className="skeleton h-5 w-96 max-w-full" />
        </div>
      </div>
      <div className="skeleton mt-8 h-16" />
      <div className="mt-6 grid gap-x-14 gap-y-8 lg:grid-cols-[1fr_348px]">
        <div className="skeleton h-64" />
        <div className="skeleton h-48 rounded-card max-lg:order-first" />
      </div>
    </div>
  )
}
