#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Something to see in a flame graph: what an interpreter does while it counts words by patterns and sorts them. Ends by itself
# after a minute.
use strict;
use warnings;

alarm 60;

my @names = qw(cart checkout payment search stock mail);
my @lines = map {
    sprintf "%02d:%02d:%02d %s request %d took %d ms\n", $_ / 3600 % 24, $_ / 60 % 60, $_ % 60, $names[$_ % @names],
        $_, $_ * 7919 % 500
} 1 .. 5000;

sub parse_line {
    my ($line, $times) = @_;

    push @{ $times->{$1} }, $2 if $line =~ /^\d+:\d+:\d+ (\w+) request \d+ took (\d+) ms$/;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;

    return $sorted[ @sorted / 2 ];
}

while (1) {
    my %times;

    parse_line($_, \%times) for @lines;
    my %medians = map { $_ => median(@{ $times{$_} }) } keys %times;
    my $slowest = (sort { $medians{$b} <=> $medians{$a} } keys %medians)[0];
    last if $slowest eq '';
}
